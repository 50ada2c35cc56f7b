// A model of the keyboard's size with made-up weights, and messages for it, common words often (the logarithm
// of the rank is uniform).
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "base/random.h"
#include "models/cifg_lstm.h"

namespace undertext {

inline std::unique_ptr<CifgLstm> keyboard_model() {
  return CifgLstm::random({.vocabulary = 9502}, Seed(1));
}

inline std::vector<Sentence> messages(std::size_t count, std::size_t words) {
  Random random(Seed(2));
  std::vector<Sentence> result(count, Sentence(words));
  for (Sentence& message : result)
    for (Token& word : message) word = static_cast<Token>(3 * std::pow(3000.0, random.uniform()));
  return result;
}

}  // namespace undertext
