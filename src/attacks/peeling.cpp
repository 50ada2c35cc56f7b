#include "attacks/peeling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "attacks/evidence_search.h"
#include "attacks/row_decoder.h"
#include "attacks/sighting.h"
#include "base/quantile.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kUnused = .03;  // contexts used less than this often are dropped
constexpr double kNobody = .5;   // sentences that seem to pass a depth that none do
constexpr int kQuietDepths = 2;
constexpr float kLikely = .3f;  // probability of a word that is tried without evidence
constexpr double kMoreFrontier = .5;
constexpr double kEdgesPerSentence = 3;
constexpr std::int64_t kMostContexts = 4500;  // that are fitted together
constexpr std::size_t kEnough = 4;            // rows of words typed once that tell their unit
constexpr std::int64_t kMostTerms = 24;       // rows of more occurrences are not decoded yet
constexpr std::int64_t kBeam = 1500;          // edges at one depth of the joint fit
constexpr std::int64_t kLeastBeam = 60;
constexpr double kVisitsPerWord = 20, kLeastVisited = 1000, kMostVisited = 3500,
                 kMostVisitedInNoise = 5000;  // and over all depths
constexpr double kKept = .02;                 // candidates with less weight are not fitted again
constexpr double kQuietNoise =
    1.2e-2;                    // rounding leaves less than this in each entry, noise that matters more
constexpr double kWhole = .1;  // how near a flow is to a whole number when it counts as one
constexpr double kClean = 1, kCleanInNoise = .25;  // squared norm of a row that is explained
constexpr double kNoiseMargin = 1.45;              // of a row's expected squared noise: three deviations
constexpr std::int32_t kDeepest = 40;              // words in a sentence

double row_norm(const Matrix<float>& m, std::int64_t k) {
  double sum = 0;
  for (std::int64_t j = 0; j + 1 < m.cols; ++j) sum += static_cast<double>(m(k, j)) * m(k, j);
  return std::sqrt(sum);
}

void sort_unique(std::vector<NodeId>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

std::vector<NodeId> keys(const std::unordered_map<NodeId, double>& map) {
  std::vector<NodeId> nodes;
  nodes.reserve(map.size());
  for (const auto& [node, value] : map) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

Peeling::Peeling(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient,
                 std::int64_t length)
    : tree_(tree),
      length_(length),
      background_(tree, layer, gradient),
      estimate_(background_.estimate(background_.gradient())),
      filter_(evidence_filter(estimate_.hidden, estimate_.weights, .005)),
      remaining_(background_.gradient()),
      closed_(static_cast<std::size_t>(gradient.rows), 0) {
  bag_ = open_words(estimate_.rows);
}

bool Peeling::noisy() const {
  return estimate_.noise > kQuietNoise;
}

double Peeling::words() const {
  return std::accumulate(estimate_.weights.begin(), estimate_.weights.end(), 0.0);
}

std::vector<Token> Peeling::open_words(const Matrix<float>& rows) {
  const double count = std::max(.3 * loose_, 4 * estimate_.noise);
  const double norm = std::sqrt(loose_ * loose_ + kNoiseMargin * estimate_.noise * estimate_.noise *
                                                      static_cast<double>(rows.cols));
  const RowSketch& sketch = background_.table().sketch();
  std::vector<Token> words;
  for (std::size_t word = 0; word < closed_.size(); ++word) {
    const std::int64_t k = sketch.row(static_cast<Token>(word));
    if (k < sketch.kept() && !closed_[word] && (rows(k, rows.cols - 1) > count || row_norm(rows, k) > norm))
      words.push_back(static_cast<Token>(word));
  }
  return words;
}

// What follows <S> stands out; the rows less that, for the sake of what lies deeper.
void Peeling::take_first_words(Matrix<float>& rows) {
  const NodeId root = 0;
  const Matrix<float> h = background_.table().hidden({&root, 1});
  const std::int64_t d = rows.cols;
  std::vector<float> direction(static_cast<std::size_t>(d));
  double q = 0;
  for (std::int64_t j = 0; j < d; ++j)
    for (std::int64_t i = 0; i < d; ++i) direction[j] += filter_(i, j) * h(0, i);
  for (std::int64_t j = 0; j < d; ++j) q += direction[j] * h(0, j);
  for (Token word : bag_) {
    float* row = rows.row(background_.table().sketch().row(word));
    double share = 0;
    for (std::int64_t j = 0; j < d; ++j) share += direction[j] * row[j];
    const double count = std::round(std::max(0.0, share / q));
    for (std::int64_t j = 0; j < d; ++j) row[j] -= static_cast<float>(count) * h(0, j);
  }
}

void Peeling::grow() {
  std::map<std::int32_t, std::vector<NodeId>> proven;
  for (NodeId node : keys(flow_)) proven[tree_.depth(node)].push_back(node);
  const std::int32_t deepest = length_ > 0 ? static_cast<std::int32_t>(length_) - 1 : kDeepest;
  EvidenceOptions search;
  search.threshold = threshold_;
  std::vector<Proposal> frontier = {{0, 0}};
  std::vector<NodeId> used = {0};
  std::unordered_map<NodeId, int> unused;  // for how many depths a context has been of no use
  int quiet_depths = 0;                    // how many depths in a row nothing seems to have passed
  double passing = 0;                      // how many sentences pass the frontier
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
    if (estimate_.contexts[i] == 0) passing = estimate_.weights[i];
  for (std::int32_t depth = 1; depth <= deepest; ++depth) {
    search.edges = std::clamp<std::int64_t>(kMostContexts - static_cast<std::int64_t>(used.size()), 100,
                                            100 + static_cast<std::int64_t>(kEdgesPerSentence * passing));
    filter_ = evidence_filter(estimate_.hidden, estimate_.weights, .005);
    Matrix<float> rows = estimate_.rows;
    if (depth > 1) take_first_words(rows);
    const std::vector<NodeId> proposed =
        nodes_of(propose_edges(background_.table(), rows, bag_, filter_, frontier, search));
    // What the model all but knows leaves little in the rows: such words are tried unasked.
    const std::vector<NodeId> likely = likely_edges(background_.table(), nodes_of(frontier), kLikely);
    const bool deeper_known = !proven.empty() && proven.rbegin()->first >= depth;
    if (!deeper_known && (proposed.empty() || quiet_depths == kQuietDepths)) break;
    used.insert(used.end(), proposed.begin(), proposed.end());
    used.insert(used.end(), likely.begin(), likely.end());
    used.insert(used.end(), proven[depth].begin(), proven[depth].end());
    sort_unique(used);
    estimate_ = background_.estimate(remaining_, used);
    std::unordered_map<NodeId, double> weight;
    for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
      weight[estimate_.contexts[i]] = estimate_.weights[i];
    std::erase_if(used, [&](NodeId node) {
      if (node == 0 || tree_.depth(node) == 1) return false;
      int& misses = unused[node];
      misses = weight.contains(node) && weight[node] >= kUnused / 3 ? 0 : misses + 1;
      return misses > 1;
    });
    // Further from what is in use, and from the likeliest of the rest: what lies deeper may yet speak for it.
    std::vector<NodeId> next;
    passing = 0;
    for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
      if (tree_.depth(estimate_.contexts[i]) == depth && estimate_.weights[i] >= kUnused) {
        next.push_back(estimate_.contexts[i]);
        passing += estimate_.weights[i];
      }
    const double all = std::accumulate(estimate_.weights.begin(), estimate_.weights.end(), 0.0);
    quiet_depths = passing < kNobody + .004 * all ? quiet_depths + 1 : 0;
    const auto more = std::min(proposed.size(), static_cast<std::size_t>(kMoreFrontier * passing) + 30);
    next.insert(next.end(), proposed.begin(), proposed.begin() + static_cast<std::ptrdiff_t>(more));
    sort_unique(next);
    frontier.clear();
    for (NodeId node : next) frontier.push_back({node, 0});
    bag_ = open_words(estimate_.rows);
  }
  contexts_ = {0};
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
    if (estimate_.weights[i] >= kUnused) contexts_.push_back(estimate_.contexts[i]);
  sort_unique(contexts_);
}

int Peeling::round() {
  grow();
  const Matrix<float>& rows = estimate_.rows;
  const std::int64_t d = rows.cols;
  const RowSketch& sketch = background_.table().sketch();
  const Matrix<float> h = background_.table().hidden(contexts_);
  const RowDecoder decoder(h, filter_);
  std::vector<RowDecoder::Decoding> decoded(bag_.size());
  parallel_for(static_cast<std::int64_t>(bag_.size()), [&](std::int64_t i) {
    const auto count = std::max<std::int64_t>(1, std::lround(rows(sketch.row(bag_[i]), d - 1)));
    if (count <= kMostTerms)
      decoded[i] = decoder.decode({rows.row(sketch.row(bag_[i])), static_cast<std::size_t>(d)}, count);
  });
  const double noise = estimate_.noise * (std::sqrt(static_cast<double>(d)) + 2.5);
  int explained = 0;
  std::vector<double> once;
  for (std::size_t i = 0; i < bag_.size(); ++i) {
    if (decoded[i].parts.size() == 1 && decoded[i].parts[0].count == 1 &&
        decoded[i].unrounded_residual < std::max(tolerance_, noise))
      once.push_back(decoded[i].parts[0].weight);
    if (decoded[i].parts.empty() || decoded[i].residual > std::max(tolerance_, noise)) continue;
    closed_[bag_[i]] = 1;
    ++explained;
    for (const auto& part : decoded[i].parts) {
      const NodeId node = tree_.child(contexts_[part.context], bag_[i]);
      flow_[node] += static_cast<double>(part.count);
      proven_[node] = flow_[node];
    }
  }
  if (once.size() >= kEnough) unit_ = quantile(std::move(once), .5);
  if (explained > 0) subtract();
  return explained;
}

int Peeling::sight() {
  filter_ = evidence_filter(estimate_.hidden, estimate_.weights, .005);
  double sentences = 1;
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
    if (estimate_.contexts[i] == 0) sentences += estimate_.weights[i];
  for (const auto& [node, flow] : flow_)
    if (tree_.depth(node) == 1) sentences += flow;
  const std::vector<NodeId> known = with_ancestors(tree_, keys(flow_));
  const std::vector<NodeId> proven =
      undertext::sight(background_.table(), {estimate_.rows, bag_, filter_, known, sentences});
  for (NodeId node : proven) {
    proven_[node] = flow_[node] += 1;
    closed_[tree_.word(node)] = 1;
  }
  if (!proven.empty()) subtract();
  return static_cast<int>(proven.size());
}

void Peeling::subtract() {
  // A sentence that reaches a node has passed all nodes above it.
  const std::vector<NodeId> nodes = with_ancestors(tree_, keys(flow_));
  std::unordered_map<NodeId, double> below;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    double& own = flow_[*node];
    own = std::max(own, below[*node]);
    below[tree_.parent(*node)] += own;
  }
  const std::vector<NodeId> used = keys(below);
  std::vector<double> weights;
  weights.reserve(used.size());
  for (NodeId node : used) weights.push_back(below[node]);
  ContextTable& table = background_.table();
  const Matrix<float> h = table.hidden(used), known = table.expected(used, weights);
  std::unordered_map<NodeId, std::int64_t> row;
  for (std::size_t i = 0; i < used.size(); ++i) row[used[i]] = static_cast<std::int64_t>(i);
  remaining_ = background_.gradient();
  for (std::size_t i = 0; i < remaining_.data.size(); ++i) remaining_.data[i] -= known.data[i];
  for (NodeId node : nodes) {
    const float* context = h.row(row[tree_.parent(node)]);
    double* left = remaining_.row(table.sketch().row(tree_.word(node)));
    for (std::int64_t j = 0; j < h.cols; ++j) left[j] += flow_[node] * context[j];
  }
  estimate_ = background_.estimate(remaining_, contexts_);
  bag_ = open_words(estimate_.rows);
}

void Peeling::relax() {
  threshold_ = threshold_ > .4 ? .3 : threshold_ > .2 ? 0 : threshold_ > -1 ? -2 : -9;
  tolerance_ = std::min(.5, tolerance_ * 1.5);
  loose_ = std::max(.1, loose_ * .6);
  bag_ = open_words(estimate_.rows);
}

std::vector<NodeId> Peeling::beam() {
  std::map<std::int32_t, std::vector<NodeId>> known;
  for (NodeId node : keys(flow_)) known[tree_.depth(node)].push_back(node);
  for (NodeId node : contexts_)
    if (node != 0) known[tree_.depth(node)].push_back(node);
  known.try_emplace(1);
  EvidenceOptions search;
  search.threshold = threshold_;
  search.children = 40;
  search.shared = .7;
  std::vector<Proposal> frontier = {{0, 0}};
  std::vector<NodeId> visited, above = {0};
  const std::int32_t deepest = length_ > 0 ? static_cast<std::int32_t>(length_) : known.rbegin()->first + 1;
  // Depths that more sentences seem to reach get more of the candidates.
  std::vector<double> passing(static_cast<std::size_t>(std::max(deepest, known.rbegin()->first)) + 2, 0.0);
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i) {
    const auto depth = static_cast<std::size_t>(tree_.depth(estimate_.contexts[i]));
    if (depth + 1 < passing.size()) passing[depth + 1] += estimate_.weights[i];
  }
  for (const auto& [node, flow] : flow_) passing[static_cast<std::size_t>(tree_.depth(node))] += flow;
  const double all = std::accumulate(passing.begin(), passing.end(), 1e-9);
  const double visits =
      std::clamp(kVisitsPerWord * all, kLeastVisited, noisy() ? kMostVisitedInNoise : kMostVisited);
  for (std::int32_t depth = 1; depth <= deepest; ++depth) {
    search.edges = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(visits * passing[static_cast<std::size_t>(depth)] / all), kLeastBeam,
        kBeam);
    frontier = propose_edges(background_.table(), estimate_.rows, bag_, filter_, frontier, search);
    const std::vector<NodeId> proposed = nodes_of(frontier);
    std::set<NodeId> seen(proposed.begin(), proposed.end());
    std::vector<NodeId> more = known[depth];
    const std::vector<NodeId> likely = likely_edges(background_.table(), above, kLikely);
    more.insert(more.end(), likely.begin(), likely.end());
    above.assign(more.begin(),
                 more.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(more.size()), kBeam));
    for (NodeId node : more)
      if (seen.insert(node).second) frontier.push_back({node, static_cast<double>(depth)});
    visited.insert(visited.end(), seen.begin(), seen.end());
  }
  return visited;
}

SentenceFit Peeling::consolidate(SentenceFit fit) {
  SentenceFitOptions options;
  options.length = length_;
  for (double least : {.15, .3, .45}) {
    std::vector<NodeId> kept;
    options.start.clear();
    for (std::size_t i = 0; i < fit.nodes.size(); ++i)
      if (fit.ends[i] > least) {
        kept.push_back(fit.nodes[i]);
        options.start[fit.nodes[i]] = fit.ends[i];
      }
    fit = fit_sentences(background_.table(), background_.gradient(), kept, options);
  }
  return fit;
}

SentenceFit Peeling::settle() {
  std::vector<NodeId> reached = keys(flow_);
  reached.insert(reached.end(), contexts_.begin(), contexts_.end());
  sort_unique(reached);
  if (background_.keep_likely(reached, kLikely)) subtract();
  std::vector<NodeId> candidates = beam();
  for (const auto& [node, end] : ends_)
    if (end > kKept) candidates.push_back(node);
  SentenceFitOptions options;
  options.length = length_;
  options.start = ends_;
  SentenceFit fit = fit_sentences(background_.table(), background_.gradient(), candidates, options);

  ends_.clear();
  for (std::size_t i = 0; i < fit.nodes.size(); ++i)
    if (fit.ends[i] > 0) ends_[fit.nodes[i]] = fit.ends[i];
  // What comes out whole is taken as known until the next time, unless its word's row is not explained.
  const RowSketch& sketch = background_.table().sketch();
  const double noise_in_a_row =
      kNoiseMargin * estimate_.noise * estimate_.noise * static_cast<double>(fit.residual.cols);
  std::vector<char> clean(static_cast<std::size_t>(sketch.kept()));
  for (std::int64_t k = 0; k < sketch.kept(); ++k) {
    double sum = 0;
    for (std::int64_t j = 0; j < fit.residual.cols; ++j) sum += fit.residual(k, j) * fit.residual(k, j);
    clean[k] = sum < (noisy() ? kCleanInNoise : kClean) + noise_in_a_row;
  }
  if (noisy()) proven_.clear();  // noise lets rows come out to nothing by chance
  flow_ = proven_;
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    const double whole = std::round(fit.flow[i]);
    if (whole > 0 && clean[sketch.row(tree_.word(fit.nodes[i]))] &&
        std::abs(fit.flow[i] - whole) < std::min(.35, kWhole + 2 * estimate_.noise)) {
      double& own = flow_[fit.nodes[i]];
      own = std::max(own, whole);
    }
  }
  std::fill(closed_.begin(), closed_.end(), 0);
  subtract();
  return fit;
}

}  // namespace undertext
