#include "metrics/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace undertext {
namespace {

// The words with the spaces between them. No word has the id -1.
std::vector<Token> with_spaces(std::span<const Token> words) {
  constexpr Token space = -1;
  std::vector<Token> joined;
  joined.reserve(2 * words.size());
  for (const Token word : words) {
    if (!joined.empty()) joined.push_back(space);
    joined.push_back(word);
  }
  return joined;
}

}  // namespace

std::int64_t levenshtein(std::span<const Token> a, std::span<const Token> b) {
  // row[j]: distance of the prefix of a read so far and the first j words of b.
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::int64_t longest_common_subsequence(std::span<const Token> a, std::span<const Token> b) {
  std::vector<std::int64_t> row(b.size() + 1, 0);
  for (const Token word : a) {
    std::int64_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t extended = diagonal + 1;
      diagonal = row[j + 1];
      row[j + 1] = word == b[j] ? extended : std::max(row[j], row[j + 1]);
    }
  }
  return row.back();
}

double word_ratio(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer == 0) return 100;
  return 100 * (1 - static_cast<double>(levenshtein(a, b)) / static_cast<double>(longer));
}

double paper_ratio(std::span<const Token> a, std::span<const Token> b) {
  const std::vector<Token> s = with_spaces(a), t = with_spaces(b);
  const std::size_t length = s.size() + t.size();
  if (length == 0) return 100;
  const auto common = static_cast<double>(longest_common_subsequence(s, t));
  return std::nearbyint(200 * common / static_cast<double>(length));  // halves to even, as published
}

}  // namespace undertext
