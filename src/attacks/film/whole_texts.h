// From texts that a fit gave in fractions to texts that were typed, each a whole number of times.
//
// Where the model all but knew the end of a text, its last steps weigh next to nothing beside all the others,
// and a fit cannot tell whether they are there. Once the rest is explained, nothing but them is left, and
// they stand out.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"

namespace undertext {

struct WholeTexts {
  std::vector<Sentence> texts;  // each once
  std::vector<double> count;    // whole numbers
  double weight = 0;            // of one occurrence in the gradient
  double left = 1;              // of the gradient's norm: what they do not explain
};

struct WholeTextsOptions {
  double weight = 0;  // of one occurrence, about; fixed: exactly
  bool fixed = false;
  bool mean = true;          // the loss is a mean: 1 / weight is the number of steps
  std::int64_t longest = 0;  // tokens of a text
  std::vector<char> read =
      {};  // of each token whether the batch has it elsewhere than at ends; empty: unknown
};

// texts, weight: of a fit.
WholeTexts whole_texts(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                       const TailGradient& gradient, std::span<const Sentence> texts,
                       std::span<const double> weight, const WholeTextsOptions& options);

// Tokens that nothing follows: those that texts end with and that were not read elsewhere or, where that is
// not known, what most of the texts end with.
std::set<Token> last_tokens(std::span<const Sentence> texts, const std::vector<char>& read);

// Adds so many tokens in all to the texts that the model is surest how to go on from, as long as it is sure.
void add_expected_ends(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                       std::int64_t missing, std::vector<Sentence>& texts);

}  // namespace undertext
