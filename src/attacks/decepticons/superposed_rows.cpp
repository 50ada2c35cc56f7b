#include "attacks/decepticons/superposed_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/blas.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kFits = 3e-3;      // of a row's length: what its parts may leave
constexpr double kRounding = 2e-7;  // of the sums that rows are differences of
constexpr std::size_t kMost = 10;   // parts of a bin
constexpr int kExchanges = 6;
constexpr std::int64_t kBlock = 128;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Chooses atoms one by one, each time the one that explains most beside those chosen, and exchanges chosen
// ones for better, since atoms that share a place are all but parallel.
class Pursuit {
 public:
  Pursuit(const SuperposedState& state, std::span<const SuperposedState::Candidate> candidates,
          const float* by_token, const float* by_place)
      : state_(state), candidates_(candidates) {
    for (const auto& candidate : candidates) {
      correlation_.push_back(static_cast<double>(by_token[candidate.token]) + by_place[candidate.place]);
      length_.push_back(product(candidate, candidate));
    }
  }

  std::vector<SuperposedPart> run(double squares, double tolerance) {
    while (chosen_.size() < std::min(kMost, candidates_.size())) {
      const std::ptrdiff_t next = best();
      if (next < 0) return {};
      chosen_.push_back(static_cast<std::size_t>(next));
      explained_ = solve();
      for (int round = 0; round < kExchanges && squares - explained_ > tolerance; ++round)
        if (!exchange()) break;
      if (squares - explained_ <= tolerance) return parts();
    }
    return {};
  }

 private:
  double product(const SuperposedState::Candidate& a, const SuperposedState::Candidate& b) const {
    return state_.product(a.token, a.place, b.token, b.place);
  }

  // Amounts of the chosen atoms by least squares; what they explain of the row's squared length.
  double solve() {
    const std::size_t k = chosen_.size();
    // Gram matrix = L L', in place.
    factor_.assign(k * k, 0.0);
    amounts_.assign(k, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = product(candidates_[chosen_[i]], candidates_[chosen_[j]]);
        for (std::size_t l = 0; l < j; ++l) sum -= factor_[i * k + l] * factor_[j * k + l];
        if (i == j) {
          if (sum < 1e-9 * length_[chosen_[i]]) return -1;
          factor_[i * k + i] = std::sqrt(sum);
        } else {
          factor_[i * k + j] = sum / factor_[j * k + j];
        }
      }
    }
    double explained = 0;
    for (std::size_t i = 0; i < k; ++i) {
      double sum = correlation_[chosen_[i]];
      for (std::size_t j = 0; j < i; ++j) sum -= factor_[i * k + j] * amounts_[j];
      amounts_[i] = sum / factor_[i * k + i];
      explained += amounts_[i] * amounts_[i];
    }
    half_ = amounts_;
    for (std::size_t i = k; i-- > 0;) {
      for (std::size_t j = i + 1; j < k; ++j) amounts_[i] -= factor_[j * k + i] * amounts_[j];
      amounts_[i] /= factor_[i * k + i];
    }
    return explained;
  }

  // The candidate that explains most beside the chosen ones; -1: none.
  std::ptrdiff_t best() const {
    const std::size_t k = chosen_.size();
    std::ptrdiff_t found = -1;
    double most = 0;
    std::vector<double> along(k);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      double left = length_[c], own = correlation_[c];
      for (std::size_t i = 0; i < k; ++i) {
        double sum = product(candidates_[c], candidates_[chosen_[i]]);
        for (std::size_t j = 0; j < i; ++j) sum -= factor_[i * k + j] * along[j];
        along[i] = sum / factor_[i * k + i];
        left -= along[i] * along[i];
        own -= along[i] * half_[i];
      }
      if (left < 1e-6 * length_[c]) continue;
      if (own * own / left > most) {
        most = own * own / left;
        found = static_cast<std::ptrdiff_t>(c);
      }
    }
    return found;
  }

  bool exchange() {
    bool any = false;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const std::vector<std::size_t> before = chosen_;
      const double explained = explained_;
      chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      solve();
      const std::ptrdiff_t next = best();
      chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i),
                     next < 0 ? before[i] : static_cast<std::size_t>(next));
      explained_ = solve();
      if (explained_ > explained * (1 + 1e-12)) {
        any = true;
      } else {
        chosen_ = before;
        explained_ = solve();
      }
    }
    return any;
  }

  std::vector<SuperposedPart> parts() const {
    std::vector<SuperposedPart> result;
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      result.push_back({candidates_[chosen_[i]].token, candidates_[chosen_[i]].place, amounts_[i]});
    return result;
  }

  const SuperposedState& state_;
  std::span<const SuperposedState::Candidate> candidates_;
  std::vector<double> correlation_, length_;
  std::vector<std::size_t> chosen_;
  std::vector<double> factor_, half_, amounts_;
  double explained_ = 0;
};

// The length of the sums that each row is a difference of.
std::vector<double> sums_behind(const ObservedRows& observed, std::int64_t width) {
  std::vector<double> lengths(at(observed.count())), sum(at(width));
  for (std::int64_t row = observed.count(); row-- > 0;) {
    if (observed.bin_of(row) + 1 == observed.bins) std::ranges::fill(sum, 0.0);
    double squares = 0;
    for (std::int64_t j = 0; j < width; ++j) {
      sum[at(j)] += observed.rows(row, j);
      squares += sum[at(j)] * sum[at(j)];
    }
    lengths[at(row)] = std::sqrt(squares);
  }
  return lengths;
}

}  // namespace

std::vector<std::vector<SuperposedPart>> take_apart(const SuperposedState& state,
                                                    const ObservedRows& observed) {
  const std::int64_t rows = observed.count(), width = state.block();
  const std::vector<double> behind = sums_behind(observed, state.width());
  std::vector<std::vector<SuperposedPart>> parts(at(rows));
  parallel_for((rows + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t first = block * kBlock, count = std::min(kBlock, rows - first);
    Matrix<float> centred(count, width);
    std::vector<double> squares(at(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const float* row = observed.rows.row(first + i) + state.code();
      const double mean = std::accumulate(row, row + width, 0.0) / static_cast<double>(width);
      for (std::int64_t j = 0; j < width; ++j) {
        centred(i, j) = static_cast<float>(row[j] - mean);
        squares[at(i)] += static_cast<double>(centred(i, j)) * centred(i, j);
      }
    }
    Matrix<float> by_token(count, state.tokens()), by_place(count, state.length());
    multiply(centred, Transpose::no, state.token_rows(), Transpose::yes, by_token);
    multiply(centred, Transpose::no, state.place_rows(), Transpose::yes, by_place);
    for (std::int64_t i = 0; i < count; ++i) {
      const double rounding = kRounding * behind[at(first + i)];
      if (squares[at(i)] < 25 * rounding * rounding) continue;
      const double tolerance = kFits * kFits * squares[at(i)] + rounding * rounding;
      Pursuit pursuit(state, state.candidates(first + i), by_token.row(i), by_place.row(i));
      parts[at(first + i)] = pursuit.run(squares[at(i)], tolerance);
    }
  });
  return parts;
}

}  // namespace undertext
