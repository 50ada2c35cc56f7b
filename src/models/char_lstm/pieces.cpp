#include "models/char_lstm/pieces.h"

#include <algorithm>

namespace undertext {
namespace {

constexpr std::size_t kSentences = 32;
constexpr std::size_t kBytes = std::size_t{256}
                               << 20;  // kept by a pass over a piece of more than one sentence

// What a pass keeps of each row: gates, c, tanh c, h and its dropped form by every layer; logits and the
// like.
std::size_t bytes_of_row(const CharLstmConfig& config) {
  return sizeof(float) * static_cast<std::size_t>(8 * config.layers * config.units + config.units +
                                                  2 * config.embedding + config.vocabulary);
}

}  // namespace

std::vector<std::vector<std::size_t>> pieces_of(std::span<const Sentence> sentences,
                                                const CharLstmConfig& config, std::size_t most) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < sentences.size(); ++s)
    if (sentences[s].size() > 1) order.push_back(s);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t s) { return sentences[s].size(); });
  const std::size_t most_rows = kBytes / bytes_of_row(config);
  std::vector<std::vector<std::size_t>> pieces;
  std::size_t rows = 0;
  for (const std::size_t s : order) {
    const std::size_t own = std::min(sentences[s].size() - 1, most);
    if (pieces.empty() || pieces.back().size() == kSentences || rows + own > most_rows) {
      pieces.emplace_back();
      rows = 0;
    }
    pieces.back().push_back(s);
    rows += own;
  }
  return pieces;
}

}  // namespace undertext
