#include "text/byte_pair_merger.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::size_t kShort = 48;  // pieces up to which a scan beats a queue

}  // namespace

BytePairMerger::BytePairMerger(std::vector<PairMerge> merges) : merges_(std::move(merges)) {
  for (std::size_t i = 0; i < merges_.size(); ++i)
    UNDERTEXT_CHECK(ranks_.insert(merges_[i].pair(), static_cast<std::uint32_t>(i)));
}

void BytePairMerger::merge(std::vector<Token>& pieces) const {
  pieces.size() <= kShort ? merge_short(pieces) : merge_long(pieces);
}

// Scans all ranks for the lowest before each merge: quadratic, but on a line or two of memory.
void BytePairMerger::merge_short(std::vector<Token>& pieces) const {
  std::array<std::uint32_t, kShort> ranks;  // ranks[i]: of pieces i and i + 1
  std::size_t n = pieces.size();
  for (std::size_t i = 0; i + 1 < n; ++i) ranks[i] = rank(pieces[i], pieces[i + 1]);
  while (n >= 2) {
    const auto lowest = std::min_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(n - 1));
    if (*lowest == FlatTable::kNothing) break;
    const auto at = static_cast<std::size_t>(lowest - ranks.begin());
    pieces[at] = merges_[*lowest].result;
    for (std::size_t i = at + 1; i + 1 < n; ++i) {
      pieces[i] = pieces[i + 1];
      ranks[i - 1] = ranks[i];
    }
    --n;
    if (at > 0) ranks[at - 1] = rank(pieces[at - 1], pieces[at]);
    if (at + 1 < n) ranks[at] = rank(pieces[at], pieces[at + 1]);
  }
  pieces.resize(n);
}

// A list of the pieces and a queue of the merges that are possible: n log n for words of any length.
void BytePairMerger::merge_long(std::vector<Token>& pieces) const {
  constexpr Token kGone = -1;
  const std::size_t n = pieces.size();
  std::vector<std::size_t> next(n), previous(n);
  using Candidate = std::pair<std::uint32_t, std::size_t>;  // rank, place of the left piece
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto rank_at = [&](std::size_t i) {
    return pieces[i] == kGone || next[i] == n ? FlatTable::kNothing : rank(pieces[i], pieces[next[i]]);
  };
  const auto offer = [&](std::size_t i) {
    if (const std::uint32_t found = rank_at(i); found != FlatTable::kNothing) queue.emplace(found, i);
  };
  for (std::size_t i = 0; i < n; ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? n : i - 1;
  }
  for (std::size_t i = 0; i < n; ++i) offer(i);
  while (!queue.empty()) {
    const auto [lowest, at] = queue.top();
    queue.pop();
    if (rank_at(at) != lowest) continue;  // one of the two has changed since
    pieces[at] = merges_[lowest].result;
    const std::size_t gone = next[at];
    pieces[gone] = kGone;
    next[at] = next[gone];
    if (next[at] != n) previous[next[at]] = at;
    offer(at);
    if (previous[at] != n) offer(previous[at]);
  }
  std::erase(pieces, kGone);
}

}  // namespace undertext
