#include "federated/client_texts.h"

#include <algorithm>

#include "base/error.h"

namespace undertext {
namespace {

Sentence stream_of(const ClientTexts& texts) {
  Sentence stream;
  stream.reserve(static_cast<std::size_t>(texts.size()));
  for (const Sentence& text : texts.texts) stream.insert(stream.end(), text.begin(), text.end());
  return stream;
}

void shuffle(std::vector<Sentence>& texts, Random random) {
  for (std::size_t i = texts.size(); i > 1; --i)
    std::swap(texts[i - 1], texts[static_cast<std::size_t>(random.below(i))]);
}

}  // namespace

std::int64_t ClientTexts::size() const {
  if (sequence == 0) return std::ssize(texts);
  std::int64_t tokens = 0;
  for (const Sentence& text : texts) tokens += std::ssize(text);
  return tokens;
}

std::vector<Sentence> epoch_of(const ClientTexts& texts, std::int64_t overlap, Seed seed) {
  std::vector<Sentence> epoch;
  if (texts.sequence == 0) {
    epoch = texts.texts;
  } else {
    const Sentence stream = stream_of(texts);
    const std::int64_t whole = texts.sequence + overlap;
    if (std::ssize(stream) < whole + texts.sequence - 1)
      fail("a client's text has {} tokens, expected at least {} for sequences of {}", stream.size(),
           whole + texts.sequence - 1, texts.sequence);
    const auto first = static_cast<std::int64_t>(
        Random(seed.derive("cut")).below(static_cast<std::uint64_t>(texts.sequence)));
    for (std::int64_t at = first; at + whole <= std::ssize(stream); at += texts.sequence)
      epoch.emplace_back(stream.begin() + at, stream.begin() + at + whole);
  }
  shuffle(epoch, Random(seed.derive("order")));
  return epoch;
}

std::vector<Sentence> whole_of(const ClientTexts& texts, std::int64_t overlap) {
  if (texts.sequence == 0) return texts.texts;
  const Sentence stream = stream_of(texts);
  std::vector<Sentence> all;
  for (std::int64_t at = 0; at + overlap < std::ssize(stream); at += texts.sequence)
    all.emplace_back(stream.begin() + at,
                     stream.begin() + std::min(std::ssize(stream), at + texts.sequence + overlap));
  return all;
}

}  // namespace undertext
