#include "attacks/overfit_sentences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attacks/evidence_search.h"
#include "attacks/model_between.h"
#include "attacks/perplexity_search.h"
#include "attacks/sentence_fit.h"
#include "attacks/trained_endings.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr std::size_t kFirst = 1000, kMore = 600;  // candidates by rank: at first, and in each later round
constexpr int kRounds = 4;
constexpr double kAsGood = 1.1;  // times the residual of all lengths together: as good as they
constexpr double kLonger = .9;
constexpr double kTaken = .35;  // of the typical weight: sentences above it are taken

// Words that the sign test finds, and words whose rows moved by a fair share of what those moved.
std::vector<Token> moved_words(const Matrix<double>& gradient, Token start) {
  const std::int64_t v = gradient.rows, d = gradient.cols;
  std::vector<double> norm(static_cast<std::size_t>(v)), typed;
  for (std::int64_t k = 0; k < v; ++k) {
    double sum = 0;
    for (std::int64_t j = 0; j + 1 < d; ++j) sum += gradient(k, j) * gradient(k, j);
    norm[k] = std::sqrt(sum);
    if (gradient(k, d - 1) < 0) typed.push_back(norm[k]);
  }
  if (typed.empty()) return {};
  const double middle = quantile(std::move(typed), .5);
  std::vector<Token> words;
  for (std::int64_t k = 0; k < v; ++k)
    if (k != start && (gradient(k, d - 1) < 0 || norm[k] > .15 * middle))
      words.push_back(static_cast<Token>(k));
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

// The two lengths that stand out from their neighbours with most of the weight.
std::vector<std::int64_t> likely_lengths(const SearchTree& tree, const SentenceFit& fit) {
  std::vector<double> mass(2, 0.0);
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    const auto depth = static_cast<std::size_t>(tree.depth(fit.nodes[i]));
    if (mass.size() < depth + 2) mass.resize(depth + 2, 0.0);
    mass[depth] += fit.ends[i];
  }
  std::vector<std::int64_t> peaks;
  for (std::size_t l = 1; l + 1 < mass.size(); ++l)
    if (mass[l] > mass[l - 1] && mass[l] > mass[l + 1]) peaks.push_back(static_cast<std::int64_t>(l));
  std::stable_sort(peaks.begin(), peaks.end(),
                   [&](std::int64_t a, std::int64_t b) { return mass[a] > mass[b]; });
  peaks.resize(std::min<std::size_t>(2, peaks.size()));
  std::sort(peaks.begin(), peaks.end());
  return peaks;
}

}  // namespace

SentenceRecovery recover_overfit_sentences(const Observation& observation, const ExactOptions& options) {
  const Protocol& protocol = observation.update.protocol;
  const auto model = model_between(observation, typical_time(protocol.epochs));
  const Matrix<double> gradient = output_gradient(observation);
  const std::vector<Token> bag = moved_words(gradient, model->start_token());
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
  std::vector<NodeId> candidates;
  std::map<std::size_t, std::size_t> next;  // of each length, the first not looked at yet
  TrainedEndings endings(observation);
  const auto take_next = [&](std::size_t count) {
    for (const auto& [length, nodes] : by_length) {
      std::size_t& at = next[length];
      for (std::size_t taken = 0; taken < count && at < nodes.size();) {
        const std::span<const NodeId> block(nodes.data() + at, std::min(count, nodes.size() - at));
        const std::vector<char> ending =
            options.length > 0 ? std::vector<char>(block.size(), 1) : endings.may_end(tree, block);
        for (std::size_t i = 0; i < block.size() && taken < count; ++i, ++at)
          if (ending[i]) {
            candidates.push_back(block[i]);
            ++taken;
          }
      }
    }
  };
  take_next(options.length > 0 ? kFirst : kFirst / 5);
  ContextTable table(tree, layer, RowSketch(gradient.rows, bag, 256, Seed(1).derive("overfit")));
  const Matrix<double> sketched = table.project(gradient);
  SentenceFitOptions fitting;
  fitting.length = options.length;
  if (options.length == 0)
    fitting.may_end = [&](std::span<const NodeId> nodes) { return endings.may_end(tree, nodes); };
  SentenceFit fit;
  double one = 1;  // the weight of a sentence typed once
  for (int round = 0; round < kRounds; ++round) {
    fit = fit_sentences(table, sketched, candidates, fitting);
    fitting.start.clear();
    for (std::size_t i = 0; i < fit.nodes.size(); ++i)
      if (fit.ends[i] > 0) fitting.start[fit.nodes[i]] = fit.ends[i];
    one = mass_median(fit.ends);
    if (round + 1 == kRounds) break;

    // What the fit leaves over, in units of one sentence; sure sentences are taken away, the rest is open.
    Matrix<float> rows = fit.background;
    for (std::size_t i = 0; i < rows.data.size(); ++i)
      rows.data[i] = static_cast<float>((rows.data[i] - sketched.data[i]) / one);
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
        const Matrix<float> h = table.hidden({&parent, 1});
        for (std::int64_t j = 0; j < h.cols; ++j)
          rows(table.sketch().row(tree.word(node)), j) -= static_cast<float>(fit.ends[i] / one) * h(0, j);
      }
    }
    const Matrix<float> filter = evidence_filter(table.hidden(contexts), weights, .02);
    EvidenceOptions evidence;
    evidence.threshold = round == 0 ? .2 : 0;
    evidence.prior = .05;
    evidence.edges = options.length > 0 ? 600 : 100;
    candidates = kept;
    std::vector<Proposal> frontier = {{0, 0}};
    const std::int64_t deepest = options.length > 0 ? options.length : 12;
    for (std::int64_t depth = 1; depth <= deepest && !frontier.empty(); ++depth) {
      frontier = propose_edges(table, rows, bag, filter, frontier, evidence);
      const std::vector<NodeId> nodes = nodes_of(frontier);
      if (options.length == 0 || depth == deepest)
        candidates.insert(candidates.end(), nodes.begin(), nodes.end());
    }
    take_next(options.length > 0 ? kMore : kMore / 10);
  }

  // When all sentences are of one length, looking for that length alone explains the update better.
  if (options.length == 0) {
    SentenceRecovery best;
    best.residual = kAsGood * fit.relative_residual;
    for (std::int64_t length : likely_lengths(tree, fit)) {
      ExactOptions again = options;
      again.length = length;
      SentenceRecovery found = recover_overfit_sentences(observation, again);
      // A word too many also explains much: the longer must be clearly better.
      if (found.residual < (best.sentences.empty() ? 1 : kLonger) * best.residual) best = std::move(found);
    }
    if (!best.sentences.empty()) return best;
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
