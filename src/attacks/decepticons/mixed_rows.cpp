#include "attacks/decepticons/mixed_rows.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kSameAmount = 0.02;  // of the largest: what tokens and places must agree to
constexpr double kNoiseLeft = 1.4;    // of the noise in a vector: what the noise itself leaves of it at most
constexpr double kMostNoise = 0.6;    // of a vector: with more left it is nobody's
constexpr std::int64_t kBlock = 256;  // rows that share their correlations

Matrix<float> columns(const Matrix<float>& rows, std::span<const std::int64_t> which, std::int64_t first,
                      std::int64_t count) {
  Matrix<float> part(static_cast<std::int64_t>(which.size()), count);
  for (std::size_t i = 0; i < which.size(); ++i)
    std::copy_n(rows.row(which[i]) + first, count, part.row(static_cast<std::int64_t>(i)));
  return part;
}

// Joins the two halves of a row: each part of the longer one belongs to one of the shorter, and amounts add
// up.
std::vector<Member> joined(const Mixture& tokens, const Mixture& positions, double noise) {
  const bool more_positions = positions.parts.size() > tokens.parts.size();
  const std::vector<Mixture::Part>& many = more_positions ? positions.parts : tokens.parts;
  const std::vector<Mixture::Part>& few = more_positions ? tokens.parts : positions.parts;
  double largest = 0;
  for (const auto* parts : {&many, &few})
    for (const Mixture::Part& part : *parts) largest = std::max(largest, std::abs(part.amount));
  std::size_t ways = 1;
  for (std::size_t i = 0; i < many.size(); ++i) ways *= few.size();
  // An amount is off by the noise along its row.
  double best = kSameAmount * largest + 4 * noise / kRowLength;
  std::vector<std::size_t> owner(many.size()), best_owner;
  for (std::size_t way = 0; way < ways; ++way) {
    std::size_t rest = way;
    double sum[3] = {};
    int used[3] = {};
    for (std::size_t i = 0; i < many.size(); ++i, rest /= few.size()) {
      owner[i] = rest % few.size();
      sum[owner[i]] += many[i].amount;
      ++used[owner[i]];
    }
    double worst = 0;
    for (std::size_t j = 0; j < few.size(); ++j)
      worst = std::max(worst, used[j] == 0 ? 2 * largest : std::abs(sum[j] - few[j].amount));
    if (worst < best) {
      best = worst;
      best_owner = owner;
    }
  }
  std::vector<Member> members;
  for (std::size_t i = 0; i < best_owner.size(); ++i) {
    const Mixture::Part& other = few[best_owner[i]];
    // Where every part has a partner, both halves say how much.
    const double amount = many.size() == few.size() ? (many[i].amount + other.amount) / 2 : many[i].amount;
    members.push_back(more_positions ? Member{other.atom, many[i].atom, amount}
                                     : Member{many[i].atom, other.atom, amount});
  }
  return members;
}

// What may be left of a vector of n entries, each with noise of this deviation, as a share of its length.
double loosened(double tolerance, double noise, const float* vector, std::int64_t n) {
  if (noise == 0) return tolerance;
  double squares = 0;
  for (std::int64_t j = 0; j < n; ++j) squares += static_cast<double>(vector[j]) * vector[j];
  const double left = kNoiseLeft * noise * std::sqrt(static_cast<double>(n));
  return std::min(kMostNoise, std::sqrt(tolerance * tolerance + left * left / squares));
}

}  // namespace

MixedRows::MixedRows(const ExactState& state)
    : state_(state), tokens_(state.token_rows()), positions_(state.position_rows()) {}

std::vector<std::vector<Member>> MixedRows::decode(const Matrix<float>& rows,
                                                   std::span<const std::int64_t> which, int most,
                                                   double tolerance, double noise) const {
  const ExactBlocks& blocks = state_.blocks();
  std::vector<std::vector<Member>> members(which.size());
  const auto n = static_cast<std::int64_t>(which.size());
  parallel_for((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const auto first = static_cast<std::size_t>(block * kBlock);
    const std::span<const std::int64_t> here =
        which.subspan(first, std::min<std::size_t>(kBlock, which.size() - first));
    const Matrix<float> places = columns(rows, here, blocks.first_position(), blocks.positions);
    const Matrix<float> words = columns(rows, here, blocks.first_token(), blocks.tokens());
    const Matrix<float> by_place = positions_.correlations(places), by_word = tokens_.correlations(words);
    for (std::size_t i = 0; i < here.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const auto position = positions_.decode(places.row(at), by_place.row(at), most,
                                              loosened(tolerance, noise, places.row(at), places.cols));
      if (!position) continue;
      const auto token = tokens_.decode(words.row(at), by_word.row(at), most,
                                        loosened(tolerance, noise, words.row(at), words.cols));
      if (token) members[first + i] = joined(*token, *position, noise);
    }
  });
  return members;
}

}  // namespace undertext
