#include "attacks/decepticons/token_beliefs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attacks/decepticons/correlation.h"
#include "base/quantile.h"
#include "base/threads.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr float kExact = 1 - 3e-4f;     // of the correlation of a row with its token and place
constexpr float kSameCode = 1 - 1e-3f;  // of the correlation of two rows' codes
constexpr std::int64_t kNone = -1;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// norm(token + position) of every slot, where rows hold it: on these entries the norm only shifts and scales.
Matrix<float> explanations(const PlacedTokens& placed) {
  const std::int64_t d = placed.model.config().width;
  const TransformerWeights weights = placed.model.weights();
  Matrix<float> out(static_cast<std::int64_t>(placed.tokens.size()), placed.rows.cols);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const float* token = weights.token_embedding + placed.tokens[at(i)] * d + placed.code;
    const float* place = weights.position_embedding + i % placed.shape.length * d + placed.code;
    float* to = out.row(i);
    for (std::int64_t j = 0; j < out.cols; ++j) to[j] = token[j] + place[j];
    standardise(to, out.cols);
  }
  return out;
}

// The best correlation of each row of `a` with any of `b`, both standardised.
std::vector<float> best_correlations(const Matrix<float>& a, const Matrix<float>& b) {
  constexpr std::int64_t kRows = 64, kOthers = 512;
  std::vector<float> best(at(a.rows), 0.0f);
  parallel_for((a.rows + kRows - 1) / kRows, [&](std::int64_t block) {
    const std::int64_t first = block * kRows, count = std::min(kRows, a.rows - first);
    std::vector<float> products(at(kRows * kOthers));
    for (std::int64_t other = 0; other < b.rows; other += kOthers) {
      const std::int64_t others = std::min(kOthers, b.rows - other);
      gemm(CblasNoTrans, CblasTrans, count, others, a.cols, 1, a.row(first), a.cols, b.row(other), b.cols, 0,
           products.data(), kOthers);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t k = 0; k < others; ++k)
          best[at(first + i)] = std::max(best[at(first + i)], products[at(i * kOthers + k)]);
    }
  });
  return best;
}

float product(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

// Rows of single tokens, grouped by their code: a group is the part of a sequence, or of several that begin
// alike, that can be seen.
struct CodeGroup {
  std::vector<std::int64_t> rows;
  bool single = true;             // no place is claimed twice
  std::int64_t sequence = kNone;  // where most of its rows were put; none where another group has more there
};

// What the rows claim: the place that each is most like.
std::vector<std::int64_t> claimed_places(const PlacedTokens& placed) {
  const Matrix<float> fit = correlations(placed.rows, placed.places);
  std::vector<std::int64_t> place(at(fit.rows));
  for (std::int64_t i = 0; i < fit.rows; ++i)
    place[at(i)] = std::max_element(fit.row(i), fit.row(i) + fit.cols) - fit.row(i);
  return place;
}

std::vector<CodeGroup> groups_by_code(const PlacedTokens& placed) {
  std::vector<CodeGroup> groups;
  for (std::int64_t i = 0; i < placed.rows.rows; ++i) {
    if (!placed.pure[at(i)]) continue;
    const auto same = std::ranges::find_if(groups, [&](const CodeGroup& group) {
      return product(placed.codes.row(group.rows.front()), placed.codes.row(i), placed.codes.cols) >
             kSameCode;
    });
    if (same == groups.end())
      groups.push_back({.rows = {i}});
    else
      same->rows.push_back(i);
  }
  return groups;
}

// In a masked model places weigh the same, through the last attention, except those with a loss of their own:
// what was read there may not be what the text says (Devlin et al. 2019 replace one in ten).
void drop_predicted_places(const PlacedTokens& placed, const std::vector<std::int64_t>& rows,
                           std::vector<char>& settled) {
  constexpr double kAlike = 0.3;
  std::vector<double> weights;
  for (const std::int64_t i : rows) weights.push_back(placed.weight[at(i)]);
  const double middle = quantile(weights, 0.5);
  for (const std::int64_t i : rows)
    if (std::abs(placed.weight[at(i)] - middle) > kAlike * std::abs(middle)) settled[at(i)] = 0;
}

// Which rows can be trusted to be in the sequence that they were put into.
struct SettledRows {
  std::vector<char> settled;
  std::vector<std::int64_t> group;  // of each row; kNone: it has none
};

SettledRows settled_rows(const PlacedTokens& placed) {
  const bool masked = placed.model.config().masked();
  std::vector<std::int64_t> group_of(at(placed.rows.rows), kNone);
  if (placed.shape.sequences == 1) {
    std::vector<char> settled(placed.pure.begin(), placed.pure.end());
    std::vector<std::int64_t> rows(settled.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (masked) drop_predicted_places(placed, rows, settled);
    return {std::move(settled), std::move(group_of)};
  }
  const std::vector<std::int64_t> place = claimed_places(placed);
  std::vector<CodeGroup> groups = groups_by_code(placed);
  std::vector<std::int64_t> largest(at(placed.shape.sequences), 0);  // members of one group in a sequence
  for (CodeGroup& group : groups) {
    std::vector<std::int64_t> claims(at(placed.shape.length), kNone), members(at(placed.shape.sequences), 0);
    for (const std::int64_t i : group.rows) {
      // Where the activation is smooth, an input close to an edge shows in both bins.
      std::int64_t& first = claims[at(place[at(i)])];
      if (first == kNone)
        first = i;
      else if (product(placed.rows.row(first), placed.rows.row(i), placed.rows.cols) < kExact)
        group.single = false;
      ++members[at(placed.cluster[at(i)])];
    }
    const auto most = std::ranges::max_element(members);
    const std::int64_t sequence = most - members.begin();
    // A group of one has no witness; two groups of one sequence leave open which of them it is.
    if (*most < 2 || *most <= largest[at(sequence)]) continue;
    for (CodeGroup& other : groups)
      if (other.sequence == sequence) other.sequence = kNone;
    largest[at(sequence)] = *most;
    group.sequence = sequence;
  }
  std::vector<char> settled(at(placed.rows.rows), 0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const CodeGroup& group = groups[g];
    for (const std::int64_t i : group.rows) {
      settled[at(i)] = group.single && group.sequence == placed.cluster[at(i)];
      group_of[at(i)] = static_cast<std::int64_t>(g);
    }
    if (masked) drop_predicted_places(placed, group.rows, settled);
  }
  return {std::move(settled), std::move(group_of)};
}

// Certain tokens say which sequence this is only where they outweigh what else stands in it: rows that were
// put here and are another sequence's, and what fills the rest, which may by chance be rather one's than
// another's.
void drop_outweighed(const PlacedTokens& placed, std::int64_t sequence, const SettledRows& rows,
                     std::vector<bool>& certified) {
  constexpr double kChance = 1.5;  // of the root of the length
  if (placed.shape.sequences == 1) return;
  std::map<std::int64_t, std::int64_t> of_others;  // slots, by group
  std::int64_t own = 0, rival = 0;
  for (std::size_t i = 0; i < certified.size(); ++i) {
    const Slot& slot = placed.slots[at(sequence * placed.shape.length) + i];
    if (certified[i])
      ++own;
    else if (slot.row >= 0 && !slot.repeated && rows.group[at(slot.row)] != kNone)
      rival = std::max(rival, ++of_others[rows.group[at(slot.row)]]);
  }
  const double chance = kChance * std::sqrt(static_cast<double>(placed.shape.length));
  if (static_cast<double>(own) < static_cast<double>(rival) + chance)
    certified.assign(certified.size(), false);
}

}  // namespace

DecepticonRecovery beliefs_of(const PlacedTokens& placed) {
  const std::int64_t length = placed.shape.length;
  const Matrix<float> explained = explanations(placed);
  const std::vector<float> best = best_correlations(explained, placed.rows);
  const SettledRows settled = settled_rows(placed);
  DecepticonRecovery recovery;
  recovery.length = length;
  for (std::int64_t s = 0; s < placed.shape.sequences; ++s) {
    RecoveredSequence sequence;
    for (std::int64_t i = s * length; i < (s + 1) * length; ++i) {
      const Slot& slot = placed.slots[at(i)];
      sequence.ids.push_back(placed.tokens[at(i)]);
      sequence.confidence.push_back(std::min(1.0, static_cast<double>(best[at(i)])));
      const bool exact = slot.row >= 0 && !slot.repeated && settled.settled[at(slot.row)] &&
                         product(explained.row(i), placed.rows.row(slot.row), explained.cols) > kExact;
      sequence.certified.push_back(exact);
    }
    drop_outweighed(placed, s, settled, sequence.certified);
    recovery.sequences.push_back(std::move(sequence));
  }
  return recovery;
}

}  // namespace undertext
