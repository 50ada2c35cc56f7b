#include "attacks/peeling.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attacks/evidence_search.h"
#include "attacks/row_decoder.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kUnused = .03;  // contexts used less than this often are dropped
constexpr double kMoreFrontier = .5;
constexpr double kEdgesPerSentence = 3;
constexpr std::int64_t kMostTerms = 24;     // rows of more occurrences are not decoded yet
constexpr std::int64_t kBeam = 600;         // edges at one depth of the joint fit
constexpr std::size_t kMostVisited = 1800;  // and over all depths
constexpr double kWhole = .1;               // how near a flow is to a whole number when it counts as one
constexpr std::int32_t kDeepest = 40;       // words in a sentence

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
  for (const auto& [node, value] : map) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

Peeling::Peeling(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient,
                 std::int64_t length)
    : tree_(tree),
      layer_(layer),
      gradient_(gradient),
      length_(length),
      background_(tree, layer, gradient),
      estimate_(background_.estimate(gradient)),
      filter_(evidence_filter(estimate_.hidden, estimate_.weights, .005)),
      remaining_(gradient),
      closed_(static_cast<std::size_t>(gradient.rows), 0) {
  bag_ = open_words(estimate_.rows);
}

std::vector<Token> Peeling::open_words(const Matrix<float>& rows) const {
  const double count = std::max(.3, 4 * estimate_.noise);
  const double norm = std::max(1., 2 * estimate_.noise * std::sqrt(static_cast<double>(rows.cols)));
  std::vector<Token> words;
  for (std::int64_t k = 0; k < rows.rows; ++k)
    if (!closed_[k] && (rows(k, rows.cols - 1) > count || row_norm(rows, k) > norm))
      words.push_back(static_cast<Token>(k));
  return words;
}

void Peeling::grow() {
  std::map<std::int32_t, std::vector<NodeId>> proven;
  for (NodeId node : keys(flow_)) proven[tree_.depth(node)].push_back(node);
  const std::int32_t deepest = length_ > 0 ? static_cast<std::int32_t>(length_) - 1 : kDeepest;
  EvidenceOptions search;
  search.threshold = threshold_;
  std::vector<NodeId> frontier = {0}, used = {0};
  std::unordered_map<NodeId, int> unused;  // for how many depths a context has been of no use
  double passing = 0;                      // how many sentences pass the frontier
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
    if (estimate_.contexts[i] == 0) passing = estimate_.weights[i];
  for (std::int32_t depth = 1; depth <= deepest; ++depth) {
    search.edges = 100 + static_cast<std::int64_t>(kEdgesPerSentence * passing);
    const std::vector<NodeId> proposed =
        propose_edges(tree_, layer_, estimate_.rows, bag_, filter_, frontier, search);
    if (proposed.empty() && (proven.empty() || proven.rbegin()->first < depth)) break;
    used.insert(used.end(), proposed.begin(), proposed.end());
    used.insert(used.end(), proven[depth].begin(), proven[depth].end());
    estimate_ = background_.estimate(remaining_, used);
    std::unordered_map<NodeId, double> weight;
    for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
      weight[estimate_.contexts[i]] = estimate_.weights[i];
    std::erase_if(used, [&](NodeId node) {
      if (node == 0) return false;
      int& misses = unused[node];
      misses = weight.contains(node) && weight[node] >= kUnused / 3 ? 0 : misses + 1;
      return misses > 1;
    });
    // Further from what is in use, and from the likeliest of the rest: what lies deeper may yet speak for it.
    frontier.clear();
    passing = 0;
    for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
      if (tree_.depth(estimate_.contexts[i]) == depth && estimate_.weights[i] >= kUnused) {
        frontier.push_back(estimate_.contexts[i]);
        passing += estimate_.weights[i];
      }
    const auto more = std::min(proposed.size(), static_cast<std::size_t>(kMoreFrontier * passing) + 30);
    frontier.insert(frontier.end(), proposed.begin(), proposed.begin() + static_cast<std::ptrdiff_t>(more));
    sort_unique(frontier);
    bag_ = open_words(estimate_.rows);
  }
  contexts_ = {0};
  for (std::size_t i = 0; i < estimate_.contexts.size(); ++i)
    if (estimate_.weights[i] >= kUnused) contexts_.push_back(estimate_.contexts[i]);
  sort_unique(contexts_);
}

int Peeling::round() {
  grow();
  const std::int64_t d = gradient_.cols;
  const Matrix<float>& rows = estimate_.rows;
  const Matrix<float> h = tree_.hidden(contexts_);
  const RowDecoder decoder(h, filter_);
  std::vector<RowDecoder::Decoding> decoded(bag_.size());
  parallel_for(static_cast<std::int64_t>(bag_.size()), [&](std::int64_t i) {
    const auto count = std::max<std::int64_t>(1, std::lround(rows(bag_[i], d - 1)));
    if (count <= kMostTerms)
      decoded[i] = decoder.decode({rows.row(bag_[i]), static_cast<std::size_t>(d)}, count);
  });
  const double noise = estimate_.noise * (std::sqrt(static_cast<double>(d)) + 2.5);
  int explained = 0;
  for (std::size_t i = 0; i < bag_.size(); ++i) {
    if (decoded[i].parts.empty() || decoded[i].residual > std::max(tolerance_, noise)) continue;
    closed_[bag_[i]] = 1;
    ++explained;
    for (const auto& part : decoded[i].parts) {
      const NodeId node = tree_.child(contexts_[part.context], bag_[i]);
      flow_[node] += static_cast<double>(part.count);
      proven_[node] = flow_[node];
    }
  }
  if (explained > 0) subtract();
  return explained;
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
  for (NodeId node : used) weights.push_back(below[node]);
  tree_.open(used);
  const Matrix<float> h = tree_.hidden(used);
  const Matrix<float> known = expected_rows(layer_, h, weights);
  std::unordered_map<NodeId, std::int64_t> row;
  for (std::size_t i = 0; i < used.size(); ++i) row[used[i]] = static_cast<std::int64_t>(i);
  remaining_ = gradient_;
  for (std::size_t i = 0; i < remaining_.data.size(); ++i) remaining_.data[i] -= known.data[i];
  for (NodeId node : nodes) {
    const float* context = h.row(row[tree_.parent(node)]);
    for (std::int64_t j = 0; j < h.cols; ++j) remaining_(tree_.word(node), j) += flow_[node] * context[j];
  }
  estimate_ = background_.estimate(remaining_, contexts_);
  bag_ = open_words(estimate_.rows);
}

void Peeling::relax() {
  threshold_ = std::max(-.2, threshold_ - .2);
  tolerance_ = std::min(.5, tolerance_ * 1.5);
}

std::vector<NodeId> Peeling::beam(double threshold) {
  std::map<std::int32_t, std::vector<NodeId>> known;
  for (NodeId node : keys(flow_)) known[tree_.depth(node)].push_back(node);
  for (NodeId node : contexts_) known[tree_.depth(node)].push_back(node);
  EvidenceOptions search;
  search.threshold = threshold;
  search.children = 10;
  search.edges = kBeam;
  std::vector<NodeId> frontier = {0}, visited;
  const std::int32_t deepest = length_ > 0 ? static_cast<std::int32_t>(length_) : kDeepest;
  for (std::int32_t depth = 1; depth <= deepest; ++depth) {
    tree_.open(frontier);
    std::vector<NodeId> next = propose_edges(tree_, layer_, estimate_.rows, bag_, filter_, frontier, search);
    next.insert(next.end(), known[depth].begin(), known[depth].end());
    sort_unique(next);
    if (next.empty() && known.rbegin()->first <= depth) break;
    visited.insert(visited.end(), next.begin(), next.end());
    if (visited.size() > kMostVisited) search.edges = 0;
    frontier = std::move(next);
  }
  return visited;
}

SentenceFit Peeling::settle() {
  const std::vector<NodeId> candidates = beam(threshold_);
  std::vector<Token> words = bag_;
  for (NodeId node : with_ancestors(tree_, candidates)) words.push_back(tree_.word(node));
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const RowSketch sketch(gradient_.rows, words, 256, Seed(1).derive("settle"));
  SentenceFitOptions options;
  options.length = length_;
  SentenceFit fit = fit_sentences(tree_, layer_, gradient_, sketch, candidates, options, nullptr);

  // What comes out whole is taken as known until the next time.
  flow_ = proven_;
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    const double whole = std::round(fit.flow[i]);
    if (whole > 0 && std::abs(fit.flow[i] - whole) < std::min(.35, kWhole + 2 * estimate_.noise)) {
      double& own = flow_[fit.nodes[i]];
      own = std::max(own, whole);
    }
  }
  std::fill(closed_.begin(), closed_.end(), 0);
  subtract();
  return fit;
}

}  // namespace undertext
