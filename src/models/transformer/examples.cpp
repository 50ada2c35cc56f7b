#include "models/transformer/examples.h"

#include <algorithm>

namespace undertext {
namespace {

constexpr double kPredicted = 0.15, kHidden = 0.8, kReplaced = 0.1;

}  // namespace

Example next_word_example(std::span<const Token> sentence) {
  Example example{{sentence.begin(), sentence.end()}, Sentence(sentence.size(), kNoTarget)};
  for (std::size_t i = 1; i < sentence.size(); ++i) example.target[i - 1] = sentence[i];
  return example;
}

Example masked_word_example(std::span<const Token> sentence, Token mask, std::int64_t vocabulary, Seed seed) {
  Example example{{sentence.begin(), sentence.end()}, Sentence(sentence.size(), kNoTarget)};
  if (sentence.empty()) return example;
  Random random(seed);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < sentence.size(); ++i)
    if (random.uniform() < kPredicted) chosen.push_back(i);
  if (chosen.empty()) chosen.push_back(static_cast<std::size_t>(random.below(sentence.size())));
  for (const std::size_t i : chosen) {
    example.target[i] = sentence[i];
    const double draw = random.uniform();
    if (draw < kHidden)
      example.input[i] = mask;
    else if (draw < kHidden + kReplaced)
      example.input[i] = static_cast<Token>(random.below(static_cast<std::uint64_t>(vocabulary)));
  }
  return example;
}

}  // namespace undertext
