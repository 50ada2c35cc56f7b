#include "attacks/decepticons/sample_sequences.h"

#include <algorithm>

#include "base/error.h"
#include "text/sequences.h"

namespace undertext {
namespace {

constexpr std::int64_t kTokens = 1 << 16;

std::vector<Sentence> random_sequences(std::int64_t vocabulary, std::int64_t length, std::int64_t count,
                                       Seed seed) {
  Random random(seed);
  std::vector<Sentence> sequences(static_cast<std::size_t>(count));
  for (Sentence& sequence : sequences)
    for (std::int64_t i = 0; i < length; ++i)
      sequence.push_back(static_cast<Token>(random.below(static_cast<std::uint64_t>(vocabulary))));
  return sequences;
}

}  // namespace

std::vector<Sentence> sample_sequences(const Transformer& model, const CorruptOptions& options) {
  const std::int64_t length = options.length, longest = model.config().positions;
  if (length < 1 || length > longest)
    fail("sequences of {} tokens, expected 1 to {}, the most that this model reads", length, longest);
  const std::int64_t count = std::max<std::int64_t>(1, kTokens / length);
  if (options.public_texts.empty())
    return random_sequences(model.vocabulary_size(), length, count, Seed(options.seed).derive("sample"));
  std::vector<Sentence> sequences = cut_into_sequences(options.public_texts, length, "the public texts");
  if (static_cast<std::int64_t>(sequences.size()) > count) sequences.resize(static_cast<std::size_t>(count));
  return sequences;
}

}  // namespace undertext
