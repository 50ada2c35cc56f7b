#include "attacks/bag_by_counts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attacks/bag_of_words.h"
#include "attacks/embedding_rows.h"
#include "base/error.h"
#include "base/quantile.h"
#include "base/random.h"

namespace undertext {
namespace {

// Texts made of these tokens at random, as many as needed for a fair picture of what the model predicts.
std::vector<Sentence> mixed_texts(const LanguageModel& model, const std::vector<Token>& words) {
  constexpr int kTexts = 32;
  const std::int64_t length = std::min<std::int64_t>(16, model.longest_sentence());
  Random random(Seed(1).derive("mixed texts"));
  std::vector<Sentence> texts(kTexts);
  for (Sentence& text : texts)
    for (std::int64_t i = 0; i < length; ++i)
      text.push_back(words.empty() ? static_cast<Token>(
                                         random.below(static_cast<std::uint64_t>(model.vocabulary_size())))
                                   : words[random.below(words.size())]);
  return texts;
}

// How likely the model finds each token on average, over texts of these tokens: (V).
std::vector<double> average_prediction(const LanguageModel& model, const std::vector<Token>& words) {
  const std::string name = *model.parameter_of(Role::output_bias);
  const std::vector<Sentence> texts = mixed_texts(model, words);
  NamedTensors gradient = {{name, at::zeros_like(model.parameters().at(name))}};
  model.add_gradient(texts, 1, gradient);
  // The gradient by the bias is what was predicted less what came; what came sums to their number.
  std::vector<double> prediction = values_of(gradient.at(name));
  const bool from_start = model.start_token() != kNoToken;
  const auto n = static_cast<double>(std::max<std::int64_t>(1, model.predicted(texts)));
  for (const Sentence& text : texts)
    for (std::size_t i = from_start ? 0 : 1; i < text.size(); ++i) prediction[text[i]] += 1;
  for (double& value : prediction) value = std::max(0.0, value / n);
  return prediction;
}

// What a token's row says of how often it came, one number per token, before the unit is known.
struct Evidence {
  std::vector<double> came;   // in proportion to counts
  std::vector<char> certain;  // the token was there, whatever `came` says
  std::vector<char> likely;   // these settle what one occurrence adds
  std::string rule;
};

// What the rows of a tied embedding's gradient hold beyond the model's own predictions, (V, D). Where token k
// did not come, its row is sum_c p_c(k) h_c with p_c(k) = exp(w_k . h_c) / Z_c: the contexts' mean, tilted by
// the token's own embedding w_k. For contexts that spread normally, row over sum_c p_c(k) is exactly a + B
// w_k; the sum is the output bias's gradient, and taken for constant where there is none. Fitted on the
// quieter half of the rows, again and again.
at::Tensor unexplained_rows(const Observation& observation, const std::string& weight) {
  constexpr int kRounds = 3;
  constexpr double kQuiet = 0.8;
  const auto bias = observation.before->parameter_of(Role::output_bias);
  const at::Tensor rows = summed_gradient(observation, weight);
  at::Tensor total = at::ones({rows.size(0), 1}, rows.options());
  if (bias && observation.update.tensors.contains(*bias))
    total = summed_gradient(observation, *bias).abs().clamp_min(1e-300).unsqueeze(1);
  const at::Tensor means = rows / total;
  const at::Tensor own = observation.before->parameters().at(weight).to(at::kDouble);
  const at::Tensor x = at::cat({own, at::ones({own.size(0), 1}, own.options())}, 1);  // (V, D + 1)
  at::Tensor left = rows;
  // A fit of as many numbers as there are rows would explain everything.
  constexpr double kRowsPerNumber = 4;
  if (kQuiet * static_cast<double>(x.size(0)) < kRowsPerNumber * static_cast<double>(x.size(1))) return left;
  for (int round = 0; round < kRounds; ++round) {
    const at::Tensor norms = left.norm(2, 1);
    const at::Tensor quiet = (norms <= norms.quantile(kQuiet)).nonzero().flatten();
    const at::Tensor few = x.index_select(0, quiet);
    at::Tensor gram = at::matmul(few.t(), few);
    gram.diagonal().add_(1e-9 * gram.diagonal().mean().item<double>());
    const at::Tensor fit = at::linalg_solve(gram, at::matmul(few.t(), means.index_select(0, quiet)));
    left = (means - at::matmul(x, fit)) * total;
  }
  return left;
}

// Which tokens were read or predicted, by the embedding's gradient; nothing when the update does not hold it.
std::vector<char> tokens_seen(const Observation& observation) {
  const std::vector<double> norms = embedding_row_norms(observation);
  if (norms.empty()) return {};
  if (!tied(*observation.before)) return moved_rows(observation, norms, 0);
  const std::string name = *observation.before->parameter_of(Role::token_embedding);
  std::vector<char> seen = outstanding_rows(values_of(unexplained_rows(observation, name).norm(2, 1)));
  // Where most of the vocabulary came there is no crowd of others to stand out from; the printed cutoff may
  // still find some.
  const std::vector<char> printed = moved_rows(observation, norms, BagOptions{}.cutoff);
  if (2 * std::ranges::count(seen, 1) < std::ranges::count(printed, 1)) seen = printed;
  return seen;
}

// From the output bias: what came is what was predicted less the gradient.
Evidence evidence_of_bias(const Observation& observation, const std::string& bias) {
  const LanguageModel& model = *observation.before;
  const std::vector<double> change = values_of(summed_gradient(observation, bias));
  Evidence evidence;
  evidence.certain = tokens_seen(observation);
  evidence.rule = "counts from the output bias";
  if (evidence.certain.empty())
    evidence.certain.assign(change.size(), 0);
  else
    evidence.rule += tied(model) ? " and embedding rows that stand out" : " and embedding rows that moved";
  std::vector<Token> words;
  evidence.likely.resize(change.size());
  for (std::size_t k = 0; k < change.size(); ++k) {
    evidence.likely[k] = change[k] < 0;
    if (evidence.certain[k] || evidence.likely[k]) words.push_back(static_cast<Token>(k));
  }
  const std::vector<double> predicted = average_prediction(model, words);
  // The rows of tokens that did not come say how many predictions were summed.
  double expected = 0, seen = 0;
  for (std::size_t k = 0; k < change.size(); ++k) {
    if (evidence.certain[k] || change[k] <= 0) continue;
    expected += predicted[k];
    seen += change[k];
  }
  const double scale = expected > 0 ? seen / expected : 1;
  evidence.came.resize(change.size());
  for (std::size_t k = 0; k < change.size(); ++k) evidence.came[k] = scale * predicted[k] - change[k];
  return evidence;
}

// The quieter half of the rows, (n, D): tokens that did not come.
at::Tensor crowd_of(const at::Tensor& rows, const at::Tensor& norms) {
  return rows.index_select(0, (norms <= norms.median()).nonzero().flatten());
}

// Of a gradient whose crowd is all zero, as strong pruning leaves it (film, section 6.3): the rows that are
// not, each once.
WordRecovery rows_that_are_left(const at::Tensor& norms) {
  WordRecovery result;
  result.rule = "embedding rows that are not zero, as few are";
  const std::vector<double> values = values_of(norms);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] > 0) result.words.push_back({static_cast<Token>(k), 1, -values[k]});
  std::ranges::stable_sort(result.words, {}, &RecoveredWord::score);
  return result;
}

// From the output weight: the rows of tokens that did not come all lie along the mean of the contexts, and a
// token's row goes the other way along it once for each time that it came.
Evidence evidence_of_rows(const Observation& observation, const at::Tensor& rows, const at::Tensor& norms) {
  Evidence evidence;
  evidence.rule = "counts from output rows along the contexts' mean";
  evidence.certain = tokens_seen(observation);
  if (evidence.certain.empty()) evidence.certain = outstanding_rows(values_of(norms));
  evidence.likely = evidence.certain;
  const at::Tensor crowd = crowd_of(rows, norms);
  const at::Tensor mean = crowd.mean(0);
  const double length = mean.square().sum().item<double>();
  const at::Tensor along = at::mv(rows, mean) / length;
  const double middle = at::mv(crowd, mean).median().item<double>() / length;
  evidence.came = values_of(middle - along);
  return evidence;
}

// What one occurrence adds: 1 where counts are whole and the bias tells, else what the values are multiples
// of. Where most tokens occur once a low quantile is nearly that; the number of predictions, below what texts
// and places allow, settles it: with the right one the small values are whole numbers.
double unit_of(const Observation& observation, const std::vector<double>& values, bool bias) {
  if (bias && counts_are_whole(observation.update.protocol)) return 1;
  double one = quantile(values, 0.25);
  if (one <= 0) return one;
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  const auto most = static_cast<std::int64_t>(tokens_of(observation, {}));
  std::vector<double> small = values;
  std::ranges::sort(small);
  small.resize(std::min<std::size_t>(small.size(), 300));
  const auto wholeness = [&](double n) {
    double sum = 0;
    for (const double value : small) sum += std::cos(2 * M_PI * value / total * n);
    return sum / static_cast<double>(small.size());
  };
  constexpr double kWhole = 0.2;  // 0: no more than by chance, 1: all are whole
  double best = 0, number = 0;
  for (double n = std::max(1.0, std::floor(0.8 * total / one)); bias && n <= static_cast<double>(most); ++n)
    if (const double score = wholeness(n); score > best) {
      best = score;
      number = n;
    }
  if (best > kWhole) return total / number;
  for (int round = 0; round < 3; ++round) {
    double counted = 0;
    for (const double value : values) counted += std::max(1.0, std::round(value / one));
    one = total / counted;
  }
  return one;
}

}  // namespace

WordRecovery recover_bag_by_counts(const Observation& observation) {
  const LanguageModel& model = *observation.before;
  const auto bias = model.parameter_of(Role::output_bias), weight = model.parameter_of(Role::output_weight);
  const auto holds = [&](const auto& name) { return name && observation.update.tensors.contains(*name); };
  if (!holds(bias) && !holds(weight)) return recover_bag_by_rows(observation, {});
  Evidence evidence;
  if (holds(bias)) {
    evidence = evidence_of_bias(observation, *bias);
  } else {
    const at::Tensor rows = summed_gradient(observation, *weight), norms = rows.norm(2, 1);  // (V, D), (V)
    if (crowd_of(rows, norms).mean(0).count_nonzero().item<std::int64_t>() == 0)
      return rows_that_are_left(norms);
    evidence = evidence_of_rows(observation, rows, norms);
  }
  // Most tokens of a text occur once.
  std::vector<double> once;
  for (std::size_t k = 0; k < evidence.came.size(); ++k)
    if (evidence.came[k] > 0 && evidence.likely[k]) once.push_back(evidence.came[k]);
  const double one = unit_of(observation, once, holds(bias));
  WordRecovery result;
  result.rule = evidence.rule;
  for (std::size_t k = 0; k < evidence.came.size(); ++k) {
    const double count = one > 0 ? std::round(evidence.came[k] / one) : 0;
    if (!evidence.certain[k] && !(holds(bias) && count >= 1)) continue;
    result.words.push_back({static_cast<Token>(k), std::max(1.0, count), -evidence.came[k]});
  }
  std::ranges::stable_sort(result.words, {}, &RecoveredWord::score);
  return result;
}

}  // namespace undertext
