#include "attacks/greedy_sentences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attacks/model_between.h"
#include "attacks/words.h"
#include "base/blas.h"
#include "base/error.h"
#include "models/prefix_reader.h"

namespace undertext {
namespace {

// From here on the model knows the sentences by heart: no scaling.
constexpr std::int64_t kOverfitEpochs = 30;
// Scales to try when the update is less than that, as what one occurrence of a word comes to add to its
// output bias: 3 to 150 for one summed step at the learning rate of .001.
constexpr double kSteps[] = {0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15};

// One sentence per word: it comes first, and the likeliest of the words under the model follows, again and
// again.
std::vector<Sentence> greedy_sentences(const std::shared_ptr<const CifgLstm>& model,
                                       std::span<const Token> words, std::int64_t length) {
  const std::int64_t n = static_cast<std::int64_t>(words.size());
  const std::int64_t width = model->config().embedding;
  const at::Tensor weight = model->parameters().at(*model->parameter_of(Role::output_weight));
  const at::Tensor bias = model->parameters().at(*model->parameter_of(Role::output_bias));
  Matrix<float> output(n, width);  // rows of the words that may follow
  for (std::int64_t i = 0; i < n; ++i)
    std::copy_n(weight.data_ptr<float>() + words[i] * width, width, output.row(i));

  CifgReader reader(model);
  const StateId none = -1;
  const Token start = model->start_token();
  std::vector<StateId> states(words.size(), reader.extend({&none, 1}, {&start, 1}));
  std::vector<Token> last(words.begin(), words.end());
  std::vector<Sentence> sentences(words.size());
  for (std::int64_t i = 0; i < n; ++i) sentences[i].push_back(last[i]);
  for (std::int64_t position = 1; position < length; ++position) {
    const StateId first = reader.extend(states, last);
    Matrix<float> h(n, width), logits(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      states[i] = first + static_cast<StateId>(i);
      std::copy_n(reader.hidden(states[i]), width, h.row(i));
    }
    multiply(h, Transpose::no, output, Transpose::yes, logits);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t best = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        logits(i, j) += bias.data_ptr<float>()[words[j]];
        if (logits(i, j) > logits(i, best)) best = j;
      }
      last[i] = words[best];
      sentences[i].push_back(last[i]);
    }
  }
  return sentences;
}

// The sentences and their scores (PP_before - PP_after) / PP_before, best first.
std::vector<RecoveredSentence> ranked(const LanguageModel& before, const LanguageModel& after,
                                      std::vector<Sentence> sentences) {
  const std::vector<double> at_first = before.negative_log_likelihood(sentences);
  const std::vector<double> at_last = after.negative_log_likelihood(sentences);
  std::vector<RecoveredSentence> result;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    // A model scaled far beyond reason overflows; such a sentence comes last.
    const double change = (at_first[i] - at_last[i]) / std::max(at_first[i], 1e-12);
    result.push_back(
        {std::move(sentences[i]), std::isfinite(change) ? change : std::numeric_limits<double>::lowest()});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const RecoveredSentence& a, const RecoveredSentence& b) { return a.score > b.score; });
  return result;
}

// How often each word was typed, going by its output bias alone.
std::map<Token, double> typed_counts(std::span<const Token> words, const std::vector<double>& scores,
                                     double one) {
  std::map<Token, double> counts;
  for (const Token word : words)
    counts[word] = one > 0 ? std::max(1.0, std::round(-scores[word] / one)) : 1.0;
  return counts;
}

// Share of the typed words that the sentences use, each no more often than it was typed.
double words_explained(std::span<const RecoveredSentence> sentences, std::map<Token, double> counts) {
  double all = 0, used = 0;
  for (const auto& [word, count] : counts) all += count;
  for (const RecoveredSentence& sentence : sentences)
    for (const Token word : sentence.words)
      if (counts[word] > 0) {
        counts[word] -= 1;
        used += 1;
      }
  return used / std::max(all, 1.0);
}

}  // namespace

SentenceRecovery recover_greedy_sentences(const Observation& observation, std::span<const Token> words,
                                          const GreedyOptions& options) {
  if (options.length < 1) fail("sentences of {} words: expected at least 1", options.length);
  if (options.scale && !std::isfinite(*options.scale))
    fail("a scale of {}: expected a number", *options.scale);
  SentenceRecovery result;
  if (words.empty()) return result;
  std::vector<Token> first(words.begin(), words.end());
  std::sort(first.begin(), first.end());
  first.erase(std::unique(first.begin(), first.end()), first.end());

  const std::vector<double> scores = output_bias_scores(observation);
  const double one = score_of_one(observation, scores);
  const std::map<Token, double> counts = typed_counts(first, scores, one);
  std::int64_t wanted = options.count > 0 ? options.count : observation.update.protocol.count;
  if (wanted <= 0) {
    double typed = 0;
    for (const auto& [word, count] : counts) typed += count;
    wanted = std::max<std::int64_t>(1, std::llround(typed / static_cast<double>(options.length)));
  }

  std::vector<double> scales;
  if (options.scale)
    scales = {*options.scale};
  else if (observation.update.protocol.epochs >= kOverfitEpochs || one <= 0)
    scales = {0};
  else
    for (const double step : kSteps) scales.push_back(step / one);

  // Without the truth the best scale is the one whose sentences gain much and still use the typed words about
  // as often as they were typed: scaled too far, the model only repeats its favourites. The cube, of the
  // powers tried, came nearest to the best scale over message files of 16 to 256 sentences.
  double best = -std::numeric_limits<double>::infinity();
  for (const double scale : scales) {
    const std::shared_ptr<const CifgLstm> model = model_between(observation, 1 + scale);
    std::vector<RecoveredSentence> sentences =
        ranked(*observation.before, *model, greedy_sentences(model, first, options.length));
    if (static_cast<std::int64_t>(sentences.size()) > wanted)
      sentences.resize(static_cast<std::size_t>(wanted));
    double gain = 0;
    for (const RecoveredSentence& sentence : sentences) gain += sentence.score;
    gain /= static_cast<double>(sentences.size());
    const double merit = gain * std::pow(words_explained(sentences, counts), 3);
    if (!result.sentences.empty() && merit <= best) continue;
    best = merit;
    result.scale = scale;
    result.sentences = std::move(sentences);
  }
  return result;
}

}  // namespace undertext
