// The keyboard at character level (gboard-next-word, section 8): the same messages, typed into a model that
// predicts letters. What is read of it is scored in words, as that of any other keyboard.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "audit/public_model.h"
#include "audit/result_row.h"
#include "audit/trials.h"
#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

class CharacterLevel {
 public:
  // words: the tokenizer of the keyboard in whose place it comes. The model of letters is trained by the same
  // recipe, once, and kept like the other.
  CharacterLevel(const PublicModelRecipe& recipe, const std::optional<std::filesystem::path>& cache,
                 const Note& note, const Tokenizer& words);

  const ModelFolder& folder() const { return folder_; }
  std::vector<Sentence> letters_of(std::span<const Sentence> messages) const;
  // A perplexity of letters as one of the words that they spell.
  double per_word(double of_letters, std::span<const Sentence> messages) const;

  // Attacks a client's update of this model: rows of words and of sentences. messages: in words, the truth.
  void add_rows(const Observation& observation, std::span<const Sentence> messages, const RowFacts& facts,
                TrialRows& results) const;

 private:
  const Tokenizer& words_;
  ModelFolder folder_;
};

}  // namespace undertext
