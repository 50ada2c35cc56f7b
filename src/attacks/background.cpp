#include "attacks/background.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

#include "attacks/nnls.h"
#include "base/blas.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr std::int64_t kLikelyStarts = 40;  // first words taken from the model itself
constexpr std::int64_t kPrefixes = 600;     // likely prefixes of two and of three words
constexpr std::int64_t kSharedRows = 512;
constexpr double kLittleNorm = .2;
constexpr double kLittleMass = .1;  // a word expected less often than this and seemingly not typed was not

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

// The predictions after these prefixes, averaged.
std::vector<double> mean_prediction(SearchTree& tree, const OutputLayer& layer,
                                    std::span<const NodeId> nodes) {
  constexpr std::int64_t kBlock = 256;
  const std::int64_t v = layer.words();
  tree.open(nodes);
  std::vector<double> mean(static_cast<std::size_t>(v), 0.0);
  const std::int64_t n = static_cast<std::int64_t>(nodes.size());
  for (std::int64_t from = 0; from < n; from += kBlock) {
    const std::int64_t size = std::min(kBlock, n - from);
    Matrix<float> p(size, v);
    layer.softmax(tree.hidden(nodes.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(size))),
                  [&](std::int64_t i, const float* row) { std::copy_n(row, v, p.row(i)); });
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t k = 0; k < v; ++k) mean[k] += static_cast<double>(p(i, k));
  }
  for (double& value : mean) value /= static_cast<double>(n);
  return mean;
}

}  // namespace

double sign_threshold(const Matrix<double>& gradient) {
  std::vector<double> s = bias_column(gradient);
  const double middle = quantile(s, 0.5);
  for (double& value : s) value -= middle;
  return std::max(1e-3, 4 * deviation_around_zero(std::move(s)));
}

double occurrence_unit(const Observation& observation, const Matrix<double>& gradient) {
  const Protocol& protocol = observation.update.protocol;
  if (counts_are_whole(protocol)) return 1;
  // In a gradient whose unit is unknown the threshold is a share of the largest entry.
  const std::vector<double> s = bias_column(gradient);
  const double lowest = *std::min_element(s.begin(), s.end());
  std::vector<double> centred = s;
  const double middle = quantile(s, 0.5);
  for (double& value : centred) value -= middle;
  const double noise = 4 * deviation_around_zero(std::move(centred));
  std::vector<double> typed;
  for (double value : s)
    if (-value > std::max(noise, -1e-4 * lowest)) typed.push_back(-value);
  const double unit = quantile(typed, 0.3);
  return unit > 0 ? unit : 1;
}

BackgroundEstimator::BackgroundEstimator(SearchTree& tree, const OutputLayer& layer,
                                         const Matrix<double>& gradient)
    : tree_(tree), layer_(layer), full_(gradient) {
  const std::int64_t v = gradient.rows, d = gradient.cols;
  const std::vector<double> s = bias_column(gradient);
  const double threshold = sign_threshold(gradient);

  // The dictionary: <S>; one word after it; the likeliest two and three words after it.
  std::vector<float> start_p(static_cast<std::size_t>(v));
  const NodeId root = 0;
  tree.open({&root, 1});
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
    if (s[k] < -threshold) wanted[k] = 1;
    typed += std::max(0.0, -s[k] - threshold);
  }
  const Token start = tree.word(root);  // nobody types it
  std::vector<Token> words;
  for (std::int64_t k = 0; k < v; ++k)
    if (wanted[k] && k != start) words.push_back(static_cast<Token>(k));
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

  // Expected mass of each word over all predictions, roughly: a quarter of them are at <S>. Words with little
  // of it that seem not to be typed tell about the contexts alone, the more the less mass they have; the
  // noise's variance counts beside the mass.
  const std::vector<double> mean = mean_prediction(tree, layer, dictionary_);
  std::vector<double> quiet;
  for (std::int64_t k = 0; k < v; k += 3)
    for (std::int64_t j = 0; j < d; j += 5) quiet.push_back(gradient(k, j));
  const double noise = deviation_around_zero(std::move(quiet));
  const double floor = 1e-3 + 10 * noise * noise;
  const double scale = static_cast<double>(usual_scale(tree));
  const double negative = threshold > 1e-3 ? threshold / 2 : 0;
  weight_.assign(static_cast<std::size_t>(v), 1.0f);
  for (std::int64_t k = 0; k < v; ++k) {
    const double mass = 1.1 * typed * (0.25 * start_p[k] + 0.75 * mean[k]);
    double norm = 0;
    for (std::int64_t j = 0; j + 1 < d; ++j) norm += gradient(k, j) * gradient(k, j);
    norm = std::sqrt(norm) * scale;
    if (k == start) {
      weight_[k] = 0;  // its row tells nothing, and a tied model's tells of the embedding
    } else if (s[k] > -negative && mass <= kLittleMass &&
               norm < kLittleNorm + scale * noise * std::sqrt(static_cast<double>(d)))
      weight_[k] = static_cast<float>(std::sqrt(floor / (mass + floor)));
    else
      kept_.push_back(static_cast<Token>(k));
  }
  make_table();
}

void BackgroundEstimator::make_table() {
  table_.emplace(tree_, layer_,
                 RowSketch(full_.rows, kept_, kSharedRows, Seed(1).derive("background"), weight_));
  gradient_ = table_->project(full_);
}

bool BackgroundEstimator::keep_likely(std::span<const NodeId> contexts, float least) {
  std::mutex mutex;
  std::set<Token> found;
  tree_.open(contexts);
  layer_.softmax(tree_.hidden(contexts), [&](std::int64_t, const float* p) {
    for (std::int64_t k = 0; k < layer_.words(); ++k)
      if (p[k] >= least && k != tree_.word(0) && !table_->sketch().keeps(static_cast<Token>(k))) {
        const std::lock_guard lock(mutex);
        found.insert(static_cast<Token>(k));
      }
  });
  if (found.empty()) return false;
  kept_.insert(kept_.end(), found.begin(), found.end());
  std::sort(kept_.begin(), kept_.end());
  make_table();
  return true;
}

BackgroundEstimator::Estimate BackgroundEstimator::estimate(const Matrix<double>& remaining,
                                                            std::span<const NodeId> more) {
  const RowSketch& sketch = table_->sketch();
  const std::int64_t d = remaining.cols;
  std::vector<NodeId> contexts = dictionary_;
  contexts.insert(contexts.end(), more.begin(), more.end());
  std::sort(contexts.begin(), contexts.end());
  contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
  const Matrix<double> h = widened(table_->hidden(contexts));
  const std::int64_t n = h.rows;
  const Matrix<double> p = widened(table_->probabilities(contexts, sketch.kept(), sketch.rows()));
  Matrix<double> target(kSharedRows, d), po(n, d);
  std::copy(remaining.row(sketch.kept()), remaining.row(sketch.rows()), target.data.begin());
  multiply(p, Transpose::no, target, Transpose::no, po);
  std::vector<double> c(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < d; ++j) c[i] += po(i, j) * h(i, j);
  Matrix<double> g = gram(p);
  multiply_by_gram(h, g);
  std::vector<double> start(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto last = last_.find(contexts[i]);
    if (last != last_.end()) start[i] = last->second;
  }
  const std::vector<double> a = solve_nnls(std::move(g), c, more.empty() ? 1e-6 : 1e-8, start);

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
  result.hidden = table_->hidden(result.contexts);
  result.rows = table_->expected(result.contexts, result.weights);
  for (std::size_t i = 0; i < result.rows.data.size(); ++i)
    result.rows.data[i] = static_cast<float>(result.rows.data[i] - remaining.data[i]);
  std::vector<double> left;
  for (std::int64_t k = sketch.kept(); k < sketch.rows(); ++k)
    if (sketch.noise_gain(k) > 0)
      for (std::int64_t j = 0; j < d; ++j)
        left.push_back(result.rows(k, j) / std::sqrt(sketch.noise_gain(k)));
  result.noise = deviation_around_zero(std::move(left));
  return result;
}

}  // namespace undertext
