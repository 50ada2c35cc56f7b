#include "attacks/row_statistics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attacks/benjamini_hochberg.h"
#include "attacks/model_between.h"
#include "attacks/nnls.h"
#include "attacks/output_layer.h"
#include "base/blas.h"
#include "base/quantile.h"
#include "models/prefix_reader.h"

namespace undertext {
namespace {

constexpr std::int64_t kPrefixes = 400;   // contexts kept of each length
constexpr std::int64_t kFitWords = 2000;  // untyped words that tell how often each context occurred
constexpr int kRounds = 2;
constexpr int kTurns = 4;
constexpr int kDepths = 4;          // contexts of 0 to 3 words after <S>
constexpr double kRelative = 0.05;  // how far predicted rows may be off, as a share of them

struct Contexts {
  Matrix<float> h;            // (n, D), h~
  std::vector<double> prior;  // how often each is expected, as a share of all; sums to one
};

// The likeliest prefixes of 0, 1, ... words when only `words` can be typed.
Contexts likely_contexts(const std::shared_ptr<const CifgLstm>& model, const OutputLayer& layer,
                         std::span<const Token> words) {
  CifgReader reader(model);
  const StateId none = -1;
  const Token start = model->start_token();
  std::vector<StateId> states = {reader.extend({&none, 1}, {&start, 1})};
  std::vector<double> share = {1};
  Contexts result;
  result.h.cols = layer.width();
  const std::int64_t choices = static_cast<std::int64_t>(words.size());
  for (int depth = 0; depth < kDepths; ++depth) {
    const std::int64_t n = static_cast<std::int64_t>(states.size());
    Matrix<float> h(n, layer.width(), 1.0f);
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(reader.hidden(states[i]), layer.width() - 1, h.row(i));
    result.h.data.insert(result.h.data.end(), h.data.begin(), h.data.end());
    result.h.rows += n;
    for (const double value : share) result.prior.push_back(value / kDepths);
    if (depth + 1 == kDepths || words.empty()) break;

    std::vector<float> flow(static_cast<std::size_t>(n * choices));
    layer.softmax(h, [&](std::int64_t i, const float* p) {
      double sum = 0;
      for (const Token word : words) sum += static_cast<double>(p[word]);
      const double scale = share[i] / std::max(sum, 1e-30);
      for (std::int64_t j = 0; j < choices; ++j)
        flow[i * choices + j] = static_cast<float>(scale * static_cast<double>(p[words[j]]));
    });
    std::vector<std::int64_t> best(flow.size());
    std::iota(best.begin(), best.end(), 0);
    const auto kept = std::min<std::ptrdiff_t>(kPrefixes, static_cast<std::ptrdiff_t>(best.size()));
    std::partial_sort(best.begin(), best.begin() + kept, best.end(), [&](std::int64_t a, std::int64_t b) {
      return flow[a] != flow[b] ? flow[a] > flow[b] : a < b;
    });
    best.resize(static_cast<std::size_t>(kept));
    std::vector<StateId> from;
    std::vector<Token> tokens;
    share.clear();
    for (const std::int64_t i : best) {
      from.push_back(states[i / choices]);
      tokens.push_back(words[i % choices]);
      share.push_back(static_cast<double>(flow[i]));
    }
    const double sum = std::accumulate(share.begin(), share.end(), 0.0);
    for (double& value : share) value /= std::max(sum, 1e-30);
    const StateId first = reader.extend(from, tokens);
    states.resize(best.size());
    std::iota(states.begin(), states.end(), first);
  }
  return result;
}

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

// How often each context occurred: the non-negative combination of the contexts' predictions that explains
// the rows of words that were not typed. crowd marks these; only those with most mass have something to say.
std::vector<double> fit_amounts(const Matrix<float>& p, const Matrix<float>& h,
                                const Matrix<double>& gradient, const std::vector<char>& crowd,
                                const std::vector<double>& mass, double noise) {
  std::vector<std::int64_t> words;
  for (std::int64_t k = 0; k < gradient.rows; ++k)
    if (crowd[k]) words.push_back(k);
  const auto kept = std::min<std::ptrdiff_t>(kFitWords, static_cast<std::ptrdiff_t>(words.size()));
  std::partial_sort(words.begin(), words.begin() + kept, words.end(), [&](std::int64_t a, std::int64_t b) {
    return mass[a] != mass[b] ? mass[a] > mass[b] : a < b;
  });
  words.resize(static_cast<std::size_t>(kept));

  const std::int64_t n = h.rows, m = kept, d = h.cols;
  Matrix<double> weighted(n, m), target(m, d);
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t k = words[i];
    // An untyped row's variance: the noise, and what likely contexts that are not in the list would add.
    const double weight = 1 / std::sqrt(mass[k] + noise * noise + 1e-3);
    for (std::int64_t c = 0; c < n; ++c) weighted(c, i) = weight * static_cast<double>(p(c, k));
    for (std::int64_t j = 0; j < d; ++j) target(i, j) = weight * gradient(k, j);
  }
  Matrix<double> projected(n, d);
  multiply(weighted, Transpose::no, target, Transpose::no, projected);
  const Matrix<double> wide = widened(h);
  std::vector<double> right(static_cast<std::size_t>(n));
  for (std::int64_t c = 0; c < n; ++c) right[c] = dot(projected.row(c), wide.row(c), d);
  Matrix<double> products = gram(weighted);
  const Matrix<double> hidden_products = gram(wide);
  for (std::size_t i = 0; i < products.data.size(); ++i) products.data[i] *= hidden_products.data[i];
  std::vector<double> amount = solve_nnls(products, right, 1e-6);
  // Noise may outweigh everything; the mean context must still be one.
  if (std::accumulate(amount.begin(), amount.end(), 0.0) <= 0) std::fill(amount.begin(), amount.end(), 1e-6);
  return amount;
}

// sum over contexts of amount * p (x) h~: (words, D).
Matrix<double> predicted_rows(const Matrix<float>& p, const Matrix<float>& h,
                              const std::vector<double>& amount) {
  Matrix<float> scaled = h, rows(p.cols, h.cols);
  for (std::int64_t c = 0; c < h.rows; ++c)
    for (std::int64_t j = 0; j < h.cols; ++j) scaled(c, j) *= static_cast<float>(amount[c]);
  multiply(p, Transpose::yes, scaled, Transpose::no, rows);
  return widened(rows);
}

// The linear filter that estimates a count from a row: rows of words typed once are spread around the
// contexts' mean with their covariance and the noise, so f ~ (C + noise^2 I)^-1 mean, scaled to f . mean = 1.
std::vector<double> count_filter(const Matrix<float>& h, const std::vector<double>& amount, double noise) {
  const std::int64_t d = h.cols;
  Matrix<double> spread = widened(h);
  std::vector<double> mean(static_cast<std::size_t>(d), 0.0);
  const double total = std::accumulate(amount.begin(), amount.end(), 0.0);
  for (std::int64_t c = 0; c < h.rows; ++c)
    for (std::int64_t j = 0; j < d; ++j) mean[j] += amount[c] / total * spread(c, j);
  for (std::int64_t c = 0; c < h.rows; ++c)
    for (std::int64_t j = 0; j < d; ++j)
      spread(c, j) = std::sqrt(amount[c] / total) * (spread(c, j) - mean[j]);
  Matrix<double> covariance(d, d);
  multiply(spread, Transpose::yes, spread, Transpose::no, covariance);
  const double floor = noise * noise + 1e-4 * dot(mean.data(), mean.data(), d);
  for (std::int64_t j = 0; j < d; ++j) covariance(j, j) += floor;
  const at::Tensor solved = at::linalg_solve(at::from_blob(covariance.data.data(), {d, d}, at::kDouble),
                                             at::from_blob(mean.data(), {d}, at::kDouble))
                                .contiguous();
  std::vector<double> filter(solved.data_ptr<double>(), solved.data_ptr<double>() + d);
  const double gain = dot(filter.data(), mean.data(), d);
  for (double& value : filter) value /= gain;
  return filter;
}

// What one occurrence of a rare word adds to the gradient: 1 for one summed step, otherwise the median of the
// words typed for sure, most of which were typed once.
double occurrence(const Matrix<double>& gradient, const Protocol& protocol, std::span<const Token> words) {
  if (counts_are_whole(protocol) && protocol.epochs <= 1) return 1;
  std::vector<double> biases;
  for (const Token k : words) biases.push_back(-gradient(k, gradient.cols - 1));
  const double unit = quantile(biases, 0.5);
  return unit > 0 ? unit : 1;
}

// Standard deviation per entry of what the predictions leave unexplained, from every seventh entry.
double entry_noise(const Matrix<double>& background, const Matrix<double>& gradient,
                   const std::vector<char>& crowd) {
  std::vector<double> left;
  for (std::int64_t k = 0; k < gradient.rows; ++k)
    if (crowd[k])
      for (std::int64_t j = k % 7; j < gradient.cols; j += 7)
        left.push_back(background(k, j) - gradient(k, j));
  return deviation_around_zero(std::move(left));
}

}  // namespace

RowStatistics row_statistics(const Observation& observation, std::span<const Token> seed_words) {
  const Protocol& protocol = observation.update.protocol;
  const std::shared_ptr<const CifgLstm> model = model_between(observation, typical_time(protocol.epochs));
  const OutputLayer layer(*model);
  Matrix<double> g = output_gradient(observation);
  const std::int64_t v = g.rows, d = g.cols;
  const double unit = occurrence(g, protocol, seed_words);
  for (double& value : g.data) value /= unit;
  const double known = known_noise(observation) / unit;  // 0: to be told from the rows

  Contexts contexts = likely_contexts(model, layer, seed_words);
  const std::int64_t n = contexts.h.rows;
  Matrix<float> p(n, v);
  layer.softmax(contexts.h, [&](std::int64_t c, const float* row) { std::copy_n(row, v, p.row(c)); });
  // Where the output weight was frozen, the bias is all there is.
  if (!observation.update.tensors.contains(*model->parameter_of(Role::output_weight)))
    for (std::int64_t c = 0; c < n; ++c) std::fill_n(contexts.h.row(c), d - 1, 0.0f);

  // A first guess at how often each context occurred: as often as words were typed.
  double typed = 0;
  for (const Token k : seed_words) typed += std::max(0.0, -g(k, d - 1));
  std::vector<double> amount = contexts.prior;
  for (double& value : amount) value *= std::max(typed, 1.0);
  std::vector<char> crowd(static_cast<std::size_t>(v), 1);
  for (const Token k : seed_words) crowd[k] = 0;

  RowStatistics result;
  result.count.resize(static_cast<std::size_t>(v));
  result.expected = result.deviation = result.count;
  for (int round = 0; round < kRounds; ++round) {
    Matrix<double> background = predicted_rows(p, contexts.h, amount);
    result.noise = known > 0 ? known : entry_noise(background, g, crowd);
    std::vector<double> mass(static_cast<std::size_t>(v));
    for (std::int64_t k = 0; k < v; ++k) mass[k] = background(k, d - 1);
    amount = fit_amounts(p, contexts.h, g, crowd, mass, result.noise);
    background = predicted_rows(p, contexts.h, amount);
    result.noise = known > 0 ? known : entry_noise(background, g, crowd);
    const std::vector<double> filter = count_filter(contexts.h, amount, result.noise);

    for (std::int64_t k = 0; k < v; ++k) {
      result.expected[k] = dot(filter.data(), background.row(k), d);
      result.count[k] = result.expected[k] - dot(filter.data(), g.row(k), d);
    }
    // Centre and spread of the crowd, and who belongs to it, in turn.
    Crowd untyped;
    for (int turn = 0; turn < kTurns; ++turn) {
      std::vector<double> of_crowd;
      for (std::int64_t k = 0; k < v; ++k)
        if (crowd[k]) of_crowd.push_back(result.count[k]);
      untyped = lower_half_crowd(of_crowd);
      for (std::int64_t k = 0; k < v; ++k) {
        result.deviation[k] = std::hypot(untyped.deviation, kRelative * result.expected[k], 1e-6);
        crowd[k] = result.count[k] - untyped.centre < 3 * result.deviation[k];
      }
    }
    for (double& count : result.count) count -= untyped.centre;
  }
  return result;
}

}  // namespace undertext
