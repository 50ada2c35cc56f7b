#include "defences/inspection/statistics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::int64_t kPiece = 1 << 18;  // numbers of one piece of work

struct Sums {
  std::int64_t zeros = 0;
  double largest = 0, second = 0, fourth = 0;
};

Sums sums_of(const float* values, std::int64_t n) {
  Sums sums;
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = std::abs(static_cast<double>(values[i])), square = size * size;
    sums.zeros += size == 0;
    sums.largest = std::max(sums.largest, size);
    sums.second += square;
    sums.fourth += square * square;
  }
  return sums;
}

// The direction that most rows of this Gram matrix (d, d) share, by power iteration.
at::Tensor leading_direction(const at::Tensor& gram) {
  at::Tensor direction = gram.diagonal().sqrt();
  // Signs of the column of the largest entry: a start that is not orthogonal to what is looked for.
  direction = direction * gram.select(1, gram.diagonal().argmax().item<std::int64_t>()).sign();
  for (int i = 0; i < 30; ++i) {
    direction = gram.mv(direction);
    const double norm = direction.norm().item<double>();
    if (!(norm > 0)) return at::zeros_like(direction);
    direction = direction / norm;
  }
  return direction;
}

}  // namespace

EntryStatistics entry_statistics(const at::Tensor& tensor) {
  UNDERTEXT_CHECK(tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  const std::int64_t n = tensor.numel(), pieces = (n + kPiece - 1) / kPiece;
  const float* values = tensor.data_ptr<float>();
  std::vector<Sums> parts(static_cast<std::size_t>(pieces));
  parallel_for(pieces, [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] = sums_of(values + i * kPiece, std::min(kPiece, n - i * kPiece));
  });
  EntryStatistics result{.count = n};
  double second = 0, fourth = 0;
  for (const Sums& part : parts) {
    result.zeros += part.zeros;
    result.largest = std::max(result.largest, part.largest);
    second += part.second;
    fourth += part.fourth;
  }
  if (second > 0) {
    const auto count = static_cast<double>(n);
    result.rms = std::sqrt(second / count);
    result.kurtosis = count * (fourth / second) / second;
  }
  return result;
}

RowDirections row_directions(const at::Tensor& matrix) {
  // Sums of squares may leave float32 where numbers are huge; the largest entry of each row first.
  at::Tensor rows = matrix.contiguous();
  const at::Tensor largest = rows.abs().amax({1}, true);
  rows = rows / largest.clamp_min(1e-30);
  const at::Tensor lengths = rows.norm(2, {1}, true);
  rows = rows / lengths.clamp_min(0.5);       // at least 1 where there is anything
  const at::Tensor gram = rows.t().mm(rows);  // (d, d): its squares sum up to those of all cosines
  RowDirections result;
  result.rows = lengths.gt(0.5).sum().item<std::int64_t>();
  const auto n = static_cast<double>(result.rows);
  if (result.rows >= 2) {
    const double all = gram.to(at::kDouble).square().sum().item<double>();
    result.mean_squared_cosine = std::clamp((all - n) / (n * (n - 1)), 0.0, 1.0);
  }
  const at::Tensor along = rows.mv(leading_direction(gram)).to(at::kDouble) *
                           (lengths.to(at::kDouble) * largest.to(at::kDouble)).flatten();
  result.along = values_of(along);
  return result;
}

std::vector<double> column_energies(const at::Tensor& matrix) {
  UNDERTEXT_CHECK(matrix.is_contiguous() && matrix.dim() == 2);
  const std::int64_t n = matrix.size(0), d = matrix.size(1), rows = std::max<std::int64_t>(1, kPiece / d);
  const std::int64_t pieces = (n + rows - 1) / rows;
  const float* values = matrix.data_ptr<float>();
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(pieces));
  parallel_for(pieces, [&](std::int64_t piece) {
    std::vector<double>& sums = parts[static_cast<std::size_t>(piece)];
    sums.assign(static_cast<std::size_t>(d), 0);
    for (std::int64_t i = piece * rows; i < std::min(n, (piece + 1) * rows); ++i)
      for (std::int64_t j = 0; j < d; ++j) {
        const double value = values[i * d + j];
        sums[static_cast<std::size_t>(j)] += value * value;
      }
  });
  std::vector<double> result(static_cast<std::size_t>(d), 0);
  for (const std::vector<double>& part : parts)
    for (std::size_t j = 0; j < result.size(); ++j) result[j] += part[j];
  return result;
}

double largest_share(const std::vector<double>& energies) {
  const double sum = std::accumulate(energies.begin(), energies.end(), 0.0);
  return sum > 0 ? *std::max_element(energies.begin(), energies.end()) / sum : 0;
}

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = static_cast<double>(first + last) / 2;
    first = last + 1;
  }
  return ranks;
}

double rank_order(const std::vector<double>& values) {
  const std::vector<double> ranks = ranks_of(values);
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double both = 0, own = 0, places = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double rank = ranks[i] - middle, place = static_cast<double>(i) - middle;
    both += rank * place;
    own += rank * rank;
    places += place * place;
  }
  return own > 0 ? both / std::sqrt(own * places) : 0;
}

double evenness(std::vector<double> values) {
  const std::size_t all = values.size();
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 32 || 10 * values.size() < 9 * all) return 0;
  double sum = 0;
  for (std::size_t i = 2; i < values.size(); ++i)
    sum += std::abs(std::log((values[i] - values[i - 1]) / (values[i - 1] - values[i - 2])));
  const double mean = sum / static_cast<double>(values.size() - 2);
  return std::max(0.0, 1 - mean / (2 * std::log(2.0)));
}

}  // namespace undertext
