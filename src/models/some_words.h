// The output layer for some words only: searches that know which words can occur pay for no others.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "models/language_model.h"

namespace undertext {

class SomeWords {
 public:
  // Gathers the rows of these words once.
  SomeWords(const LanguageModel& model, std::span<const Token> words);

  std::int64_t size() const { return weight_.rows; }
  // Logits of the words after each of n hidden vectors (n, D): (n, words).
  Matrix<float> logits(const float* h, std::int64_t n) const;

 private:
  Matrix<float> weight_;     // (words, D)
  std::vector<float> bias_;  // (words); zero where the model has none
};

}  // namespace undertext
