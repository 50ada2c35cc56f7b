// Which words a hidden vector has just read.
//
// The row of a word typed once is the hidden vector of the one context that it followed, and such a vector
// says itself what was read last and, less surely, what came before. Linear discriminants tell, learnt from
// prefixes of the model's own making: on the keyboard's model the last word is right in 98 of 100 cases, with
// noise of .2 in each entry in 97; the one before it is among the first ten in 93.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/output_layer.h"
#include "base/random.h"
#include "models/prefix_reader.h"
#include "text/tokenizer.h"

namespace undertext {

class LastWords {
 public:
  static constexpr int kBack = 3;  // how many words can be asked for

  // words: those that may have been read. reader: of the model, with no states in it.
  LastWords(std::unique_ptr<PrefixReader> reader, const OutputLayer& layer, Token start,
            std::span<const Token> words, Seed seed);

  // Log-likelihood, but for a constant in each row, of each word (by its index in `words`, after them <S>) as
  // the last one read by the hidden vectors h (n, width); with `after` as the one before those, of which the
  // first was read last: (n, words + 1).
  Matrix<float> scores(const Matrix<float>& h, std::span<const std::vector<std::int32_t>> after = {}) const;

 private:
  struct Discriminant {
    Matrix<float> mean;       // of each class
    Matrix<float> direction;  // the mean times the inverse of the covariance within classes
    std::vector<float> offset;
  };
  static Discriminant learn(const Matrix<float>& h, std::span<const std::int32_t> classes,
                            std::int64_t count);
  static void take_means(const Discriminant& discriminant, std::span<const std::int32_t> classes,
                         Matrix<float>& h);

  std::vector<Discriminant> back_;  // for the last word, the one before it, ...
};

}  // namespace undertext
