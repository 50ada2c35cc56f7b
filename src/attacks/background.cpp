#include "attacks/background.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "attacks/nnls.h"
#include "attacks/row_sketch.h"
#include "attacks/sentence_fit.h"
#include "base/blas.h"

namespace undertext {
namespace {

constexpr std::int64_t kLikelyStarts = 40;  // first words taken from the model itself
constexpr std::int64_t kPrefixes = 600;     // likely prefixes of two and of three words
constexpr std::int64_t kSharedRows = 512;

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::int64_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::vector<double> bias_column(const Matrix<double>& gradient) {
  std::vector<double> s(static_cast<std::size_t>(gradient.rows));
  for (std::int64_t k = 0; k < gradient.rows; ++k) s[k] = gradient(k, gradient.cols - 1);
  return s;
}

// The likeliest extensions of `nodes` by words of the list: log p of the path so far counts half.
std::vector<NodeId> likely_children(SearchTree& tree, const OutputLayer& layer,
                                    const std::vector<NodeId>& nodes, std::vector<double>& score,
                                    const std::vector<Token>& words) {
  tree.open(nodes);
  struct Option {
    double score;
    std::int64_t from, word;
  };
  const std::int64_t count = static_cast<std::int64_t>(words.size());
  std::vector<Option> options(nodes.size() * words.size());
  layer.softmax(tree.hidden(nodes), [&](std::int64_t i, const float* p) {
    for (std::int64_t j = 0; j < count; ++j)
      options[i * count + j] = {0.5 * score[i] + std::log(std::max(1e-30f, p[words[j]])), i, j};
  });
  const auto keep = std::min<std::size_t>(kPrefixes, options.size());
  std::partial_sort(options.begin(), options.begin() + static_cast<std::ptrdiff_t>(keep), options.end(),
                    [](const Option& a, const Option& b) {
                      if (a.score != b.score) return a.score > b.score;
                      return std::pair(a.from, a.word) < std::pair(b.from, b.word);
                    });
  options.resize(keep);
  std::vector<NodeId> children;
  score.clear();
  for (const Option& option : options) {
    children.push_back(tree.child(nodes[option.from], words[option.word]));
    score.push_back(option.score);
  }
  return children;
}

}  // namespace

double sign_threshold(const Matrix<double>& gradient) {
  std::vector<double> s = bias_column(gradient);
  const double middle = quantile(s, 0.5);
  for (double& value : s) value = std::abs(value - middle);
  return std::max(1e-3, 4 * 1.4826 * quantile(s, 0.5));
}

double occurrence_unit(const Observation& observation, const Matrix<double>& gradient) {
  const Protocol& protocol = observation.update.protocol;
  if (protocol.reduction == Reduction::sum && protocol.epochs <= 1) return 1;
  // In a gradient whose unit is unknown the threshold is a share of the largest entry.
  const std::vector<double> s = bias_column(gradient);
  const double lowest = *std::min_element(s.begin(), s.end());
  std::vector<double> centred = s;
  const double middle = quantile(s, 0.5);
  for (double& value : centred) value = std::abs(value - middle);
  const double noise = 4 * 1.4826 * quantile(centred, 0.5);
  std::vector<double> typed;
  for (double value : s)
    if (-value > std::max(noise, -1e-4 * lowest)) typed.push_back(-value);
  const double unit = quantile(typed, 0.3);
  return unit > 0 ? unit : 1;
}

BackgroundEstimator::BackgroundEstimator(SearchTree& tree, const OutputLayer& layer,
                                         const Matrix<double>& gradient)
    : tree_(tree),
      layer_(layer),
      threshold_(undertext::sign_threshold(gradient)),
      sketch_(gradient.rows, {}, kSharedRows, Seed(1).derive("background")) {
  const std::int64_t v = gradient.rows, d = gradient.cols;
  const std::vector<double> s = bias_column(gradient);

  // The dictionary: <S>; one word after it; the likeliest two and three words after it.
  std::vector<float> start_p(static_cast<std::size_t>(v));
  const NodeId root = 0;
  layer.softmax(tree.hidden({&root, 1}),
                [&](std::int64_t, const float* p) { std::copy_n(p, v, start_p.begin()); });
  std::vector<Token> by_start(static_cast<std::size_t>(v));
  std::iota(by_start.begin(), by_start.end(), 0);
  std::partial_sort(by_start.begin(), by_start.begin() + std::min(kLikelyStarts, v), by_start.end(),
                    [&](Token a, Token b) { return std::pair(-start_p[a], a) < std::pair(-start_p[b], b); });
  std::vector<char> wanted(static_cast<std::size_t>(v), 0);
  for (std::int64_t i = 0; i < std::min(kLikelyStarts, v); ++i) wanted[by_start[i]] = 1;
  double typed = 0;
  for (std::int64_t k = 0; k < v; ++k) {
    if (s[k] < -threshold_) wanted[k] = 1;
    typed += std::max(0.0, -s[k] - threshold_);
  }
  std::vector<Token> words;
  for (std::int64_t k = 0; k < v; ++k)
    if (wanted[k]) words.push_back(static_cast<Token>(k));
  dictionary_ = {0};
  std::vector<NodeId> prefixes;
  std::vector<double> score;
  for (Token word : words) {
    prefixes.push_back(tree.child(0, word));
    score.push_back(std::log(std::max(1e-30f, start_p[word])));
  }
  for (int depth = 1; depth <= 3; ++depth) {
    dictionary_.insert(dictionary_.end(), prefixes.begin(), prefixes.end());
    if (depth < 3) prefixes = likely_children(tree, layer, prefixes, score, words);
  }
  tree.open(dictionary_);
  const Matrix<float> h = tree.hidden(dictionary_);
  const std::int64_t n = h.rows;

  // Expected mass of each word over all predictions, roughly: a quarter of them are at <S>.
  const std::vector<double> even(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  const Matrix<float> mean = expected_rows(layer, h, even);
  root_weight_.assign(static_cast<std::size_t>(v), 0.0f);
  // The noise's variance beside the expected mass: without noise this is next to nothing.
  std::vector<double> quiet;
  for (std::int64_t k = 0; k < v; k += 3)
    for (std::int64_t j = 0; j < d; j += 5) quiet.push_back(std::abs(gradient(k, j)));
  const double noise = 1.4826 * quantile(std::move(quiet), 0.5);
  for (std::int64_t k = 0; k < v; ++k) {
    const double mass = 1.1 * typed * (0.25 * start_p[k] + 0.75 * mean(k, d - 1));
    if (s[k] > (threshold_ > 1e-3 ? -threshold_ : 0) && mass <= 0.3)
      root_weight_[k] = static_cast<float>(1 / std::sqrt(mass + 1e-3 + 10 * noise * noise));
  }
}

std::vector<std::int64_t> BackgroundEstimator::sketched(std::span<const NodeId> contexts) {
  std::vector<NodeId> fresh;
  for (NodeId node : contexts)
    if (cached_.try_emplace(node, static_cast<std::int64_t>(cached_.size())).second) fresh.push_back(node);
  tree_.open(fresh);
  cache_.resize(cached_.size() * kSharedRows);
  float* first = cache_.data() + (cached_.size() - fresh.size()) * kSharedRows;
  const std::size_t words = root_weight_.size();
  layer_.softmax(tree_.hidden(fresh), [&](std::int64_t i, const float* row) {
    std::vector<float> weighted(row, row + words);
    for (std::size_t k = 0; k < words; ++k) weighted[k] *= root_weight_[k];
    std::vector<double> projected(kSharedRows);
    sketch_.project(weighted.data(), projected.data());
    std::copy(projected.begin(), projected.end(), first + i * kSharedRows);
  });
  std::vector<std::int64_t> at;
  for (NodeId node : contexts) at.push_back(cached_.at(node));
  return at;
}

BackgroundEstimator::Estimate BackgroundEstimator::estimate(const Matrix<double>& remaining,
                                                            std::span<const NodeId> more) {
  const std::int64_t v = remaining.rows, d = remaining.cols;
  std::vector<NodeId> contexts = dictionary_;
  contexts.insert(contexts.end(), more.begin(), more.end());
  std::sort(contexts.begin(), contexts.end());
  contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
  tree_.open(contexts);
  const Matrix<float> h = tree_.hidden(contexts);
  const std::int64_t n = h.rows;
  const std::vector<std::int64_t> at = sketched(contexts);
  Matrix<double> p(n, kSharedRows);
  for (std::int64_t i = 0; i < n; ++i)
    std::copy_n(cache_.data() + at[i] * kSharedRows, kSharedRows, p.row(i));
  Matrix<double> target(v, d);
  for (std::int64_t k = 0; k < v; ++k)
    for (std::int64_t j = 0; j < d; ++j) target(k, j) = root_weight_[k] * remaining(k, j);
  Matrix<double> po(n, d);
  multiply(p, Transpose::no, sketch_.project(target), Transpose::no, po);
  std::vector<double> c(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < d; ++j) c[i] += po(i, j) * static_cast<double>(h(i, j));
  Matrix<double> g = gram(p);
  {
    const Matrix<double> hh = gram(widened(h));
    for (std::size_t i = 0; i < g.data.size(); ++i) g.data[i] *= hh.data[i];
  }
  std::vector<double> start(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto last = last_.find(contexts[i]);
    if (last != last_.end()) start[i] = last->second;
  }
  const std::vector<double> a = solve_nnls(g, c, more.empty() ? 1e-6 : 1e-8, start);

  Estimate result;
  last_.clear();
  for (std::int64_t i = 0; i < n; ++i)
    if (a[i] > 0) {
      last_[contexts[i]] = a[i];
      result.contexts.push_back(contexts[i]);
      result.weights.push_back(a[i]);
    }
  dictionary_.clear();  // what is of no use is not tried again
  const std::set<NodeId> extra(more.begin(), more.end());
  for (NodeId node : result.contexts)
    if (!extra.contains(node)) dictionary_.push_back(node);
  result.hidden = tree_.hidden(result.contexts);
  result.rows = expected_rows(layer_, result.hidden, result.weights);
  for (std::size_t i = 0; i < result.rows.data.size(); ++i)
    result.rows.data[i] = static_cast<float>(result.rows.data[i] - remaining.data[i]);
  std::vector<double> left;
  for (std::int64_t k = 0; k < v; ++k)
    if (root_weight_[k] > 0)
      for (std::int64_t j = 0; j < d; j += 7) left.push_back(std::abs(result.rows(k, j)));
  result.noise = 1.4826 * quantile(std::move(left), 0.5);
  return result;
}

}  // namespace undertext
