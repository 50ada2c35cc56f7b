#include "attacks/overfit_sentences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attacks/background.h"
#include "attacks/evidence_search.h"
#include "attacks/model_between.h"
#include "attacks/perplexity_search.h"
#include "attacks/sentence_fit.h"

namespace undertext {
namespace {

constexpr std::size_t kFirst = 1000, kMore = 600;  // candidates by rank: at first, and in each later round
constexpr int kRounds = 4;
constexpr double kOneLength = .5;  // share of the weight on one length that makes it the only one
constexpr double kTaken = .35;     // of the typical weight: sentences above it are taken

// Where between the two models the contexts look most like they did on average over the training.
double midpoint(std::int64_t epochs) {
  const double e = static_cast<double>(epochs);
  if (e <= 5) return .5;
  if (e >= 50) return .9;
  if (e <= 10) return .5 + .1 * (e - 5) / 5;
  return .6 + .3 * (e - 10) / 40;
}

// Words that the sign test finds, and words whose rows moved by a fair share of what those moved.
std::vector<Token> moved_words(const Matrix<double>& gradient) {
  const std::int64_t v = gradient.rows, d = gradient.cols;
  std::vector<double> norm(static_cast<std::size_t>(v)), typed;
  for (std::int64_t k = 0; k < v; ++k) {
    double sum = 0;
    for (std::int64_t j = 0; j + 1 < d; ++j) sum += gradient(k, j) * gradient(k, j);
    norm[k] = std::sqrt(sum);
    if (gradient(k, d - 1) < 0) typed.push_back(norm[k]);
  }
  if (typed.empty()) return {};
  std::nth_element(typed.begin(), typed.begin() + static_cast<std::ptrdiff_t>(typed.size() / 2), typed.end());
  const double middle = typed[typed.size() / 2];
  std::vector<Token> words;
  for (std::int64_t k = 0; k < v; ++k)
    if (gradient(k, d - 1) < 0 || norm[k] > .15 * middle) words.push_back(static_cast<Token>(k));
  return words;
}

// The weight at which half of the total is reached, from the largest down: that of a sentence typed once.
double mass_median(std::vector<double> x) {
  std::sort(x.begin(), x.end(), std::greater<>());
  const double half = std::accumulate(x.begin(), x.end(), 0.0) / 2;
  double sum = 0;
  for (double value : x)
    if ((sum += value) >= half) return value;
  return 1;
}

}  // namespace

SentenceRecovery recover_overfit_sentences(const Observation& observation, const ExactOptions& options) {
  const Protocol& protocol = observation.update.protocol;
  const auto model = model_between(observation, midpoint(protocol.epochs));
  const Matrix<double> gradient = output_gradient(observation);
  const std::vector<Token> bag = moved_words(gradient);
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  SentenceRecovery result;
  if (bag.empty()) return result;

  PerplexityOptions search;
  search.scale = protocol.epochs < 30 ? 60.0 / static_cast<double>(protocol.epochs) : 0;
  search.length = options.length;
  if (options.length == 0) search.beams = 1000;
  const std::vector<PerplexityCandidate> ranked = search_by_perplexity(observation, bag, search);

  // Changes compare between sentences of one length, so each length gives its best.
  std::map<std::size_t, std::vector<NodeId>> by_length;
  for (const PerplexityCandidate& candidate : ranked)
    by_length[candidate.words.size()].push_back(tree.insert(candidate.words));
  std::size_t taken = 0;
  std::vector<NodeId> candidates;
  const auto take_next = [&](std::size_t count) {
    for (const auto& [length, nodes] : by_length)
      for (std::size_t i = taken; i < std::min(taken + count, nodes.size()); ++i)
        candidates.push_back(nodes[i]);
    taken += count;
  };
  take_next(options.length > 0 ? kFirst : kFirst / 5);
  SentenceFitOptions fitting;
  fitting.length = options.length;
  SentenceFit fit;
  double one = 1;  // the weight of a sentence typed once
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Token> words = bag;
    for (NodeId node : with_ancestors(tree, candidates)) words.push_back(tree.word(node));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const RowSketch sketch(gradient.rows, words, 256, Seed(1).derive("overfit"));
    fit = fit_sentences(tree, layer, gradient, sketch, candidates, fitting, round == 0 ? nullptr : &fit);
    one = mass_median(fit.ends);
    if (round + 1 == kRounds) break;

    // What the fit leaves over, in units of one sentence; sure sentences are taken away, the rest is open.
    Matrix<float> rows = fit.background;
    for (std::size_t i = 0; i < rows.data.size(); ++i)
      rows.data[i] = static_cast<float>((rows.data[i] - gradient.data[i]) / one);
    std::vector<NodeId> kept, contexts;
    std::vector<double> weights;
    for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
      if (fit.ends[i] < .02 * one) continue;
      kept.push_back(fit.nodes[i]);
      for (NodeId node = fit.nodes[i]; node > 0; node = tree.parent(node)) {
        const NodeId parent = tree.parent(node);
        contexts.push_back(parent);
        weights.push_back(fit.ends[i]);
        if (fit.ends[i] < .6 * one) continue;
        const Matrix<float> h = tree.hidden({&parent, 1});
        for (std::int64_t j = 0; j < h.cols; ++j)
          rows(tree.word(node), j) -= static_cast<float>(fit.ends[i] / one) * h(0, j);
      }
    }
    const Matrix<float> filter = evidence_filter(tree.hidden(contexts), weights, .02);
    EvidenceOptions evidence;
    evidence.threshold = round == 0 ? .2 : 0;
    evidence.prior = .05;
    evidence.edges = options.length > 0 ? 600 : 100;
    candidates = kept;
    std::vector<NodeId> frontier = {0};
    const std::int64_t deepest = options.length > 0 ? options.length : 12;
    for (std::int64_t depth = 1; depth <= deepest && !frontier.empty(); ++depth) {
      tree.open(frontier);
      frontier = propose_edges(tree, layer, rows, bag, filter, frontier, evidence);
      if (options.length == 0 || depth == deepest)
        candidates.insert(candidates.end(), frontier.begin(), frontier.end());
    }
    take_next(options.length > 0 ? kMore : kMore / 10);
  }

  // When one length carries most of the weight, the rest is mostly beginnings and overruns of such sentences:
  // look again for that length alone.
  if (options.length == 0) {
    std::map<std::int64_t, double> mass;
    double total = 0;
    for (std::size_t i = 0; i < fit.nodes.size(); ++i)
      if (fit.ends[i] >= kTaken * one) {
        mass[tree.depth(fit.nodes[i])] += fit.ends[i];
        total += fit.ends[i];
      }
    for (const auto& [length, weight] : mass)
      if (weight > kOneLength * total) {
        ExactOptions again = options;
        again.length = length;
        return recover_overfit_sentences(observation, again);
      }
  }

  result.residual = fit.relative_residual;
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    const double x = fit.ends[i] / one;
    if (x < kTaken) continue;
    const int copies = std::max(1, static_cast<int>(std::floor(x + .4)));
    for (int copy = 0; copy < copies; ++copy)
      result.sentences.push_back({tree.sentence(fit.nodes[i]), x - copy});
  }
  std::stable_sort(result.sentences.begin(), result.sentences.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  if (options.count > 0 && static_cast<std::int64_t>(result.sentences.size()) > options.count)
    result.sentences.resize(static_cast<std::size_t>(options.count));
  return result;
}

}  // namespace undertext
