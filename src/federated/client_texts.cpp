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

// From a random place within the first sequence on.
std::vector<Sentence> cut(const ClientTexts& texts, std::int64_t overlap, Seed seed) {
  const Sentence stream = stream_of(texts);
  const std::int64_t whole = texts.sequence + overlap;
  if (std::ssize(stream) < whole + texts.sequence - 1)
    fail("a client's text has {} tokens, expected at least {} for sequences of {}", stream.size(),
         whole + texts.sequence - 1, texts.sequence);
  const auto first =
      static_cast<std::int64_t>(Random(seed.derive("cut")).below(static_cast<std::uint64_t>(texts.sequence)));
  std::vector<Sentence> sequences;
  for (std::int64_t at = first; at + whole <= std::ssize(stream); at += texts.sequence)
    sequences.emplace_back(stream.begin() + at, stream.begin() + at + whole);
  return sequences;
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
  std::vector<Sentence> epoch = texts.sequence == 0 ? texts.texts : cut(texts, overlap, seed);
  shuffle(epoch, Random(seed.derive("order")));
  return epoch;
}

std::vector<Sentence> epoch_in_lanes(const ClientTexts& texts, std::int64_t overlap, std::int64_t lanes,
                                     Seed seed) {
  UNDERTEXT_CHECK(texts.sequence > 0 && lanes > 0);
  const std::vector<Sentence> sequences = cut(texts, overlap, seed);
  const std::int64_t width = std::min<std::int64_t>(lanes, std::ssize(sequences)),
                     steps = std::ssize(sequences) / width;
  std::vector<Sentence> epoch;
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int64_t lane = 0; lane < width; ++lane)
      epoch.push_back(sequences[static_cast<std::size_t>(lane * steps + step)]);
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
