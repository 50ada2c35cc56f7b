// Some sentences as an LSTM reads them: all at once, one character of each per step. The longest come first,
// so that the sentences still being read at a step are the first few, and their states lie side by side.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

struct StepRows {
  // sentences[chosen[b]] for each place b, from character `first` on and `most` of them; lengths must not
  // rise. Only such that have a character after the first.
  StepRows(std::span<const Sentence> sentences, std::span<const std::size_t> chosen, std::size_t first = 0,
           std::size_t most = std::numeric_limits<std::size_t>::max());

  std::vector<std::size_t> sentence;      // by place
  std::vector<std::int64_t> begin = {0};  // (steps + 1): the first row of each step
  std::vector<Token> token, target;       // by row: what is read, and what comes next

  std::int64_t places() const { return static_cast<std::int64_t>(sentence.size()); }
  std::int64_t steps() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t rows() const { return begin.back(); }
  // How many sentences are read at that step.
  std::int64_t width(std::int64_t step) const { return begin[step + 1] - begin[step]; }
  // Characters that are read of the sentence at that place.
  std::int64_t length(std::int64_t place) const { return length_[static_cast<std::size_t>(place)]; }
  // Whether all sentences are of the same length.
  bool even() const { return rows() == places() * steps(); }

 private:
  std::vector<std::int64_t> length_;
};

}  // namespace undertext
