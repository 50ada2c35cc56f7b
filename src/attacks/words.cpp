#include "attacks/words.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attacks/benjamini_hochberg.h"
#include "attacks/row_statistics.h"
#include "base/error.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kFalseDiscoveries = 0.05;
constexpr int kCutoffRounds = 20;
constexpr int kPasses = 2;
// Without noise no untyped word is negative. When the negative words above the cutoff are fewer than this
// share of what normal noise would put there, it is not noise that spreads the crowd, and the rule is the
// sign, less what little noise there may be.
constexpr double kNoiseShare = 0.25;
constexpr double kStillRows = 0.05;  // share of the rows that count as still
// Rows without noise: the least count that the sign does not show. True counts are 1 and more; contexts that
// the estimate does not know of make untyped words reach a few tenths.
constexpr double kLeastCount = 0.4;
constexpr double kLeastNoisyCount = 0.2;

// Most negative score first, ties by id. counts: one per word of the vocabulary.
WordRecovery by_score(const std::vector<Token>& found, const std::vector<double>& scores,
                      const std::vector<double>& counts, std::string rule) {
  WordRecovery result;
  result.rule = std::move(rule);
  for (const Token k : found) result.words.push_back({k, std::max(1.0, std::round(counts[k])), scores[k]});
  std::sort(result.words.begin(), result.words.end(), [](const RecoveredWord& a, const RecoveredWord& b) {
    return a.score != b.score ? a.score < b.score : a.id < b.id;
  });
  return result;
}

// Counts as far as the bias alone tells.
std::vector<double> counts_by_bias(const Observation& observation, const std::vector<double>& scores) {
  const double one = score_of_one(observation, scores);
  std::vector<double> counts(scores.size(), 1.0);
  if (one > 0)
    std::transform(scores.begin(), scores.end(), counts.begin(), [=](double s) { return -s / one; });
  return counts;
}

std::vector<Token> negative_words(const std::vector<double>& scores) {
  std::vector<Token> found;
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (scores[k] < 0) found.push_back(static_cast<Token>(k));
  return found;
}

struct Cutoff {
  bool noisy = false;  // the crowd of untyped words is noise, more than anything else
  double below = 0;    // the largest score that counts as typed
  std::vector<Token> words;
};

// The standard deviation of whatever noise the output layer holds, as large as a score; 0 when there is none.
// The rows of words that the model holds for all but impossible do not move by themselves: what moves the
// stillest of them is noise.
double noise_of_still_rows(const Observation& observation) {
  if (const double known = known_noise(observation); known > 0)
    return known * observation.update.protocol.learning_rate;
  const auto name = observation.before->parameter_of(Role::output_weight);
  if (!name || !observation.update.tensors.contains(*name)) return 0;
  const at::Tensor moved = summed_gradient(observation, *name).contiguous();  // (V, D)
  const std::int64_t rows = moved.size(0), width = moved.size(1);
  const double* value = moved.data_ptr<double>();
  std::vector<double> size(static_cast<std::size_t>(rows));
  for (std::int64_t k = 0; k < rows; ++k) {
    double energy = 0;
    for (std::int64_t j = 0; j < width; ++j) energy += value[k * width + j] * value[k * width + j];
    size[static_cast<std::size_t>(k)] = std::sqrt(energy / static_cast<double>(width));
  }
  return quantile(std::move(size), kStillRows) * observation.update.protocol.learning_rate;
}

// Negative words that noise of this size, which can only have made untyped ones less positive, does not
// explain.
Cutoff cut_off_by_noise(const std::vector<double>& scores, double noise) {
  if (noise <= 0) return {false, 0, negative_words(scores)};
  std::vector<double> p(scores.size());
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = normal_cdf(scores[k] / noise);
  const double reject = benjamini_hochberg(p, kFalseDiscoveries);
  Cutoff result;
  result.below = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (scores[k] >= 0 || p[k] > reject) continue;
    result.words.push_back(static_cast<Token>(k));
    result.below = std::max(result.below, scores[k]);
  }
  return result;
}

// noise: of noise_of_still_rows(), for the case that noise is not what spreads the crowd.
Cutoff cut_off(const std::vector<double>& scores, double noise) {
  const std::size_t v = scores.size();
  std::vector<double> p(v);
  std::vector<char> typed(v, 0), before;
  double reject = -1, by_noise = 0;  // by_noise: share of words that noise alone makes negative but not typed
  // The typed words widen the crowd's lower half; so the crowd is measured again without those found, until
  // nothing changes.
  for (int round = 0; round < kCutoffRounds && typed != before; ++round) {
    before = typed;
    std::vector<double> untyped;
    for (std::size_t k = 0; k < v; ++k)
      if (!typed[k]) untyped.push_back(scores[k]);
    const auto [centre, deviation] = lower_half_crowd(untyped);
    if (deviation <= 0) return cut_off_by_noise(scores, noise);
    for (std::size_t k = 0; k < v; ++k) p[k] = normal_cdf((scores[k] - centre) / deviation);
    reject = benjamini_hochberg(p, kFalseDiscoveries);
    by_noise = normal_cdf(-centre / deviation) - std::max(0.0, reject);
    for (std::size_t k = 0; k < v; ++k) typed[k] = scores[k] < 0 && p[k] <= reject;
  }
  Cutoff result;
  result.below = -std::numeric_limits<double>::infinity();
  double unsure = 0;
  for (std::size_t k = 0; k < v; ++k) {
    unsure += scores[k] < 0 && !typed[k];
    if (!typed[k]) continue;
    result.words.push_back(static_cast<Token>(k));
    result.below = std::max(result.below, scores[k]);
  }
  result.noisy = unsure > kNoiseShare * by_noise * static_cast<double>(v);
  if (!result.noisy) return cut_off_by_noise(scores, noise);
  return result;
}

// Words whose row of the token embedding moved: the words that were read, which without noise are exactly the
// rows that are not zero (<S> aside). Nothing when the embedding was not trained or is the output weight too.
std::vector<Token> words_read(const Observation& observation) {
  const LanguageModel& model = *observation.before;
  const auto name = model.parameter_of(Role::token_embedding);
  if (!name || name == model.parameter_of(Role::output_weight) || !observation.update.tensors.contains(*name))
    return {};
  const at::Tensor moved = summed_gradient(observation, *name).contiguous();
  const std::int64_t rows = moved.size(0), width = moved.size(1);
  const double* value = moved.data_ptr<double>();
  std::vector<double> size(value, value + moved.numel());
  const double noise = deviation_around_zero(std::move(size));
  std::vector<double> p(static_cast<std::size_t>(rows), 1.0);
  for (std::int64_t k = 0; k < rows; ++k) {
    double energy = 0;
    for (std::int64_t j = 0; j < width; ++j) energy += value[k * width + j] * value[k * width + j];
    if (noise == 0) {
      p[k] = energy > 0 ? 0 : 1;
      continue;
    }
    // Chi-squared with `width` degrees of freedom, as a normal by the cube root of Wilson and Hilferty
    // (1931).
    const double w = static_cast<double>(width), spread = 2 / (9 * w);
    p[k] = normal_cdf(-(std::cbrt(energy / (noise * noise * w)) - (1 - spread)) / std::sqrt(spread));
  }
  const double reject = benjamini_hochberg(p, kFalseDiscoveries);
  std::vector<Token> found;
  for (std::int64_t k = 0; k < rows; ++k)
    if (p[k] <= reject && k != model.start_token()) found.push_back(static_cast<Token>(k));
  return found;
}

}  // namespace

std::vector<double> output_bias_scores(const Observation& observation) {
  const auto name = observation.before->parameter_of(Role::output_bias);
  if (!name) fail("this model has no output bias: the attack reads the words off its change");
  if (!observation.update.tensors.contains(*name))
    fail("the update does not hold {}: the attack reads the words off its change", *name);
  const at::Tensor score =
      (summed_gradient(observation, *name) * observation.update.protocol.learning_rate).contiguous();
  return {score.data_ptr<double>(), score.data_ptr<double>() + score.numel()};
}

double score_of_one(const Observation& observation, const std::vector<double>& scores) {
  const Protocol& protocol = observation.update.protocol;
  if (counts_are_whole(protocol) && protocol.epochs <= 1) return protocol.learning_rate;
  std::vector<double> typed;
  for (const Token k : cut_off(scores, noise_of_still_rows(observation)).words) typed.push_back(-scores[k]);
  return quantile(std::move(typed), 0.5);
}

WordRecovery recover_words_by_sign(const Observation& observation) {
  const std::vector<double> scores = output_bias_scores(observation);
  return by_score(negative_words(scores), scores, counts_by_bias(observation, scores),
                  "sign of the output bias");
}

WordRecovery recover_words_by_cutoff(const Observation& observation) {
  const std::vector<double> scores = output_bias_scores(observation);
  const Cutoff cutoff = cut_off(scores, noise_of_still_rows(observation));
  return by_score(cutoff.words, scores, counts_by_bias(observation, scores),
                  cutoff.below < 0
                      ? fmt::format("output bias at most {:.3g}, the noise taken off", cutoff.below)
                      : "sign of the output bias: there is no noise to cut off");
}

WordRecovery recover_words_by_rows(const Observation& observation) {
  const std::vector<double> scores = output_bias_scores(observation);
  const Cutoff cutoff = cut_off(scores, noise_of_still_rows(observation));
  const std::vector<Token> read = words_read(observation);
  std::vector<Token> sure = read;
  sure.insert(sure.end(), cutoff.words.begin(), cutoff.words.end());
  std::sort(sure.begin(), sure.end());
  sure.erase(std::unique(sure.begin(), sure.end()), sure.end());

  const double least = cutoff.noisy ? kLeastNoisyCount : kLeastCount;
  std::vector<char> kept(scores.size(), 0);  // these need no test of their rows
  for (const Token k : cutoff.noisy ? read : sure) kept[k] = 1;
  RowStatistics rows;
  std::vector<Token> found;
  // The rows find more words than the bias; contexts built with these as well are nearer to the true ones.
  for (int pass = 0; pass < kPasses; ++pass) {
    rows = row_statistics(observation, pass == 0 ? sure : found);
    std::vector<double> p(scores.size());
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = normal_cdf(-rows.count[k] / rows.deviation[k]);
    const double reject = benjamini_hochberg(p, kFalseDiscoveries);
    found.clear();
    for (std::size_t k = 0; k < p.size(); ++k)
      if (kept[k] || (p[k] <= reject && rows.count[k] > least)) found.push_back(static_cast<Token>(k));
    // <S> is never typed, though a tied model's row of it moves as if it were.
    std::erase(found, observation.before->start_token());
  }
  return by_score(found, scores, rows.count,
                  fmt::format("counts from the output rows{}{}", read.empty() ? "" : " and the embedding",
                              cutoff.noisy ? ", the noise taken off" : ""));
}

}  // namespace undertext
