// Which words follow which context, and how often.
#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

struct Targets {
  // What follows row r: words target[i], target_count[i] times, i in [target_begin[r], target_begin[r+1]).
  std::vector<std::int64_t> target_begin = {0};
  std::vector<Token> target;
  std::vector<float> target_count;
  std::vector<float> row_count;  // sum of a row's counts

  std::int64_t rows() const { return static_cast<std::int64_t>(row_count.size()); }
  // One more row, which one word follows `count` times.
  void add(Token word, float count = 1) {
    target.push_back(word);
    target_count.push_back(count);
    row_count.push_back(count);
    target_begin.push_back(static_cast<std::int64_t>(target.size()));
  }
};

}  // namespace undertext
