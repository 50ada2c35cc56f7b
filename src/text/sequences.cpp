#include "text/sequences.h"

#include "base/error.h"

namespace undertext {

std::vector<Sentence> cut_into_sequences(std::span<const Sentence> sentences, std::int64_t length,
                                         const std::string& where) {
  if (length < 1) fail("{}: sequences of {} tokens, expected at least 1", where, length);
  const auto size = static_cast<std::size_t>(length);
  std::vector<Sentence> sequences;
  Sentence current;
  for (const Sentence& sentence : sentences) {
    for (const Token token : sentence) {
      current.push_back(token);
      if (current.size() < size) continue;
      sequences.push_back(std::move(current));
      current.clear();
    }
  }
  if (sequences.empty())
    fail("{}: {} tokens, expected at least one sequence of {}", where, current.size(), length);
  return sequences;
}

std::vector<Sentence> first_sequences(std::span<const Sentence> sentences, std::int64_t length,
                                      std::int64_t count, const std::string& where) {
  if (count < 1) fail("{}: {} sequences, expected at least 1", where, count);
  std::vector<Sentence> sequences = cut_into_sequences(sentences, length, where);
  if (sequences.size() < static_cast<std::size_t>(count))
    fail("{}: {} sequences of {} tokens, expected {}", where, sequences.size(), length, count);
  sequences.resize(static_cast<std::size_t>(count));
  return sequences;
}

}  // namespace undertext
