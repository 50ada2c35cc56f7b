#include "attacks/exact_sentences.h"

#include <algorithm>
#include <cmath>

#include "attacks/certificate.h"
#include "attacks/model_between.h"
#include "attacks/overfit_sentences.h"
#include "attacks/peeling.h"
#include "attacks/tied_embedding.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr std::int64_t kManyEpochs =
    40;  // from here on the models have drifted too far apart for one gradient
constexpr int kRounds = 40;
constexpr int kJointFits = 12;  // that may fail to explain everything
constexpr int kStalls = 4;      // joint fits that bring nothing new
constexpr int kManyWords = 20;  // that are open: worth a wider search when a round brings little
constexpr int kVainSightings = 3;
constexpr int kNoisyFits = 6;
constexpr double kProgress = .999;  // of the last residual: what noise leaves does not shrink any more
constexpr int kUnitTurns = 4;
constexpr int kTiedPasses = 8;
constexpr double kHopeless = 2;     // noise in each entry that drowns single occurrences
constexpr double kVanished = 3e-4;  // relative residual that rounding alone leaves

// The output layer's gradient in units of one occurrence of a word.
Matrix<double> in_occurrences(const Observation& observation, SearchTree& tree, const OutputLayer& layer) {
  Matrix<double> gradient = output_gradient(observation);
  double unit = occurrence_unit(observation, gradient);
  const auto divide = [&](double by) {
    for (double& value : gradient.data) value /= by;
  };
  divide(unit);
  if (unit == 1) return gradient;
  // A first estimate of the counts: those near one are one.
  BackgroundEstimator background(tree, layer, gradient);
  const auto estimate = background.estimate(background.gradient());
  std::vector<double> ones;
  for (std::int64_t k = 0; k < background.table().sketch().kept(); ++k) {
    const double count = estimate.rows(k, gradient.cols - 1);
    if (count > .6 && count < 1.4) ones.push_back(count);
  }
  if (ones.empty()) return gradient;
  const double correction = quantile(std::move(ones), .5);
  unit *= correction;
  divide(correction);
  // Rows that one context explains tell it more exactly. A mean over one batch divides by its words.
  const Protocol& protocol = observation.update.protocol;
  const bool whole =
      protocol.reduction == Reduction::mean && protocol.epochs == 1 && !(protocol.defence.clip > 0);
  for (int turn = 0; turn < kUnitTurns; ++turn) {
    Peeling peeling(tree, layer, gradient, 0);
    peeling.round();
    double better = unit * peeling.unit();
    if (whole) better = 1 / std::round(1 / better);
    divide(better / unit);
    if (std::abs(better / unit - 1) < 1e-6) break;
    unit = better;
  }
  return gradient;
}

// As many copies of each sentence as the fit gives it, rounded.
SentenceRecovery whole_sentences(const SearchTree& tree, const SentenceFit& fit) {
  SentenceRecovery result;
  result.residual = fit.relative_residual;
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    const auto copies = static_cast<int>(std::round(fit.ends[i]));
    for (int copy = 0; copy < copies; ++copy)
      result.sentences.push_back({tree.sentence(fit.nodes[i]), fit.ends[i]});
  }
  std::stable_sort(result.sentences.begin(), result.sentences.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return result;
}

std::vector<Sentence> words_of(const SentenceRecovery& recovery) {
  std::vector<Sentence> sentences;
  sentences.reserve(recovery.sentences.size());
  for (const RecoveredSentence& sentence : recovery.sentences) sentences.push_back(sentence.words);
  return sentences;
}

// The sentences behind a gradient (in occurrences) that the layer's own words explain.
SentenceRecovery solve(const Observation& observation, SearchTree& tree, const OutputLayer& layer,
                       const Matrix<double>& gradient, const ExactOptions& options) {
  Peeling peeling(tree, layer, gradient, options.length);
  SentenceRecovery result;
  const bool noisy = peeling.noisy();
  const bool tied = observation.before->parameter_of(Role::output_weight) ==
                    observation.before->parameter_of(Role::token_embedding);
  // Noise or several steps: no set of sentences leaves nothing over.
  const bool inexact = noisy || observation.update.protocol.epochs > 1;
  if (noisy && options.only_if_quiet) return result;
  if (peeling.noise() > kHopeless) return result;
  if (options.most_words > 0 && peeling.words() > options.most_words) return result;
  int fits = 0, stalls = 0, vain = 0;
  double last = 1;  // relative residual of the last joint fit
  for (int round = 0; round < kRounds && fits < (inexact ? kNoisyFits : kJointFits); ++round) {
    const auto open = static_cast<int>(peeling.open());
    // Under noise few rows come out to nothing: one look around, then joint fits.
    int explained = open > 0 && !(noisy && round > 0) ? peeling.round() : 0;
    // A tied model's typed rows hold more than hidden vectors: there is nothing to compare them with.
    if (!noisy && !tied && vain < kVainSightings && open > kManyWords && explained * 6 < open) {
      const int sighted = peeling.sight();
      vain += sighted == 0;
      explained += sighted;
    }
    if (!noisy && peeling.open() > 0 && explained * 10 > open) continue;
    SentenceFit fit = peeling.settle();
    ++fits;
    stalls += fit.relative_residual > kProgress * last;
    const bool at_rest = stalls >= (inexact ? 1 : kStalls);
    last = fit.relative_residual;
    if (inexact && (at_rest || fits == kNoisyFits)) fit = peeling.consolidate(std::move(fit));
    result = whole_sentences(tree, fit);
    result.certified = explains_update(observation, words_of(result));
    if (result.certified || at_rest || fit.relative_residual < kVanished) break;
    peeling.relax();
  }
  return result;
}

// What the embedding adds to a tied model's rows is taken away as far as the sentences are known, which makes
// more of them known.
SentenceRecovery solve_tied(const Observation& observation, const CifgLstm& model, SearchTree& tree,
                            const OutputLayer& layer, const Matrix<double>& gradient,
                            const ExactOptions& options) {
  SentenceRecovery result = solve(observation, tree, layer, gradient, options);
  for (int pass = 1; pass < kTiedPasses && !result.certified && !result.sentences.empty(); ++pass) {
    const Matrix<double> read = embedding_gradient(model, words_of(result));
    Matrix<double> corrected = gradient;
    for (std::int64_t k = 0; k < read.rows; ++k)
      for (std::int64_t j = 0; j < read.cols; ++j) corrected(k, j) -= read(k, j);
    SentenceRecovery next = solve(observation, tree, layer, corrected, options);
    if (words_of(next) == words_of(result)) break;
    result = std::move(next);
  }
  return result;
}

}  // namespace

SentenceRecovery recover_exact_sentences(const Observation& observation, const ExactOptions& options) {
  const Protocol& protocol = observation.update.protocol;
  if (protocol.epochs >= kManyEpochs) return recover_overfit_sentences(observation, options);
  const auto model = model_between(observation, typical_time(protocol.epochs));
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  const Matrix<double> gradient = in_occurrences(observation, tree, layer);
  SentenceRecovery result = model->config().tied
                                ? solve_tied(observation, *model, tree, layer, gradient, options)
                                : solve(observation, tree, layer, gradient, options);
  if (options.count > 0 && static_cast<std::int64_t>(result.sentences.size()) > options.count)
    result.sentences.resize(static_cast<std::size_t>(options.count));
  return result;
}

}  // namespace undertext
