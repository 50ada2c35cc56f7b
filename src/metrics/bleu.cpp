#include "metrics/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

namespace undertext {
namespace {

constexpr std::size_t kLongest = 4;
using Gram = std::array<Token, kLongest>;  // the entries after n are 0
using Counts = std::map<Gram, std::int64_t>;

Counts grams(const Sentence& sequence, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= sequence.size(); ++i) {
    Gram gram{};
    std::copy_n(sequence.begin() + static_cast<std::ptrdiff_t>(i), n, gram.begin());
    ++counts[gram];
  }
  return counts;
}

// How often the reference that has a gram most has it.
Counts most_of(std::span<const Sentence> references, std::size_t n) {
  Counts most;
  for (const Sentence& reference : references) {
    for (const auto& [gram, count] : grams(reference, n)) {
      std::int64_t& known = most[gram];
      known = std::max(known, count);
    }
  }
  return most;
}

// The length of the reference that comes closest; of two equally close the shorter.
std::size_t closest_length(std::span<const Sentence> references, std::size_t length) {
  std::size_t best = references.front().size();
  const auto distance = [&](std::size_t other) { return other > length ? other - length : length - other; };
  for (const Sentence& reference : references) {
    const std::size_t other = reference.size();
    if (distance(other) < distance(best) || (distance(other) == distance(best) && other < best)) best = other;
  }
  return best;
}

}  // namespace

double bleu(std::span<const Sentence> references, std::span<const Sentence> recovered) {
  if (references.empty() || recovered.empty()) return 0;
  double log_mean = 0;
  for (std::size_t n = 1; n <= kLongest; ++n) {
    const Counts most = most_of(references, n);
    double shared = 0, all = 0;
    for (const Sentence& sequence : recovered) {
      for (const auto& [gram, count] : grams(sequence, n)) {
        const auto found = most.find(gram);
        if (found != most.end()) shared += static_cast<double>(std::min(count, found->second));
        all += static_cast<double>(count);
      }
    }
    if (shared == 0) return 0;
    log_mean += std::log(shared / all) / kLongest;
  }
  double length = 0, expected = 0;
  for (const Sentence& sequence : recovered) {
    length += static_cast<double>(sequence.size());
    expected += static_cast<double>(closest_length(references, sequence.size()));
  }
  const double penalty = length >= expected ? 0 : 1 - expected / length;
  return std::exp(log_mean + penalty);
}

}  // namespace undertext
