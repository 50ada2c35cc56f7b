// Grows prefixes by the tokens that the gradient bears out, until it bears out none.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/film/step_scores.h"

namespace undertext {

struct StepSearchOptions {
  double weight = 0;           // of one occurrence in the gradient
  std::int64_t starts = 64;    // first tokens that are followed up
  std::int64_t per_start = 6;  // prefixes of each that are kept at a time
  std::int64_t children = 12;  // tokens tried after each prefix
  std::int64_t longest = 0;    // tokens of a sentence
  double prior = 1;            // weight of the model's own log-probability beside the evidence
};

struct FoundPrefix {
  Sentence tokens;
  double score = 0;    // evidence of its steps plus prior
  bool first = false;  // the best of those that begin alike
};

class StepSearch {
 public:
  // starts: tokens that a sentence may begin with.
  StepSearch(std::shared_ptr<const Transformer> model, const Tail& tail, std::vector<Token> starts);

  // The likeliest steps from each start. w = 0: not known yet.
  std::vector<ScoredStep> first_steps(const StepScores& scores, double w) const;
  // Sentences, and prefixes that may be sentences, from the best starts and from every place of the sentences
  // that are kept already (whose own steps count as explained). The best of each start and of each kept
  // sentence come first, or variants of one would stand before all of another; otherwise best first.
  std::vector<FoundPrefix> run(const StepScores& scores, std::span<const Sentence> kept,
                               const StepSearchOptions& options) const;
  // The kept sentences with one token changed or put in where the gradient speaks for another, likeliest
  // first. What follows the place stays: it has been explained away, so that no search would find it again.
  std::vector<Sentence> repairs(const StepScores& scores, std::span<const Sentence> kept,
                                const StepSearchOptions& options) const;

 private:
  struct Prefix {
    Sentence tokens;
    StateId state = -1;
    double score = 0;
    std::int32_t group = 0;
    int since_bad = 0;  // steps since the last that the gradient spoke against
  };
  // Every place of the sentences, read in step, each prefix once.
  std::vector<Prefix> places_of(std::span<const Sentence> kept, TransformerReader& reader) const;
  std::vector<Prefix> grown_from(const StepScores& scores, std::span<const Sentence> kept,
                                 const StepSearchOptions& options, TransformerReader& reader) const;

  std::shared_ptr<const Transformer> model_;
  const Tail& tail_;
  std::vector<Token> starts_;
  TailContexts first_;  // of each start alone
};

}  // namespace undertext
