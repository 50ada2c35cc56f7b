#include "attacks/film/prior_score.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::size_t kNormsAtOnce = 8;  // sentences: enough for the products to be large

double predicted(const Sentence& sentence) {
  UNDERTEXT_CHECK(sentence.size() > 1);
  return static_cast<double>(sentence.size() - 1);
}

}  // namespace

PriorScore::PriorScore(std::shared_ptr<const Transformer> model, const PriorOptions& options)
    : model_(std::move(model)), beta_(options.beta), trunk_(model_) {
  if (options.fast_norm)
    names_ = {model_->names().layers[static_cast<std::size_t>(model_->config().layers / 2)].norm1_weight};
}

// Infinity where it is not below the bound.
std::vector<double> PriorScore::perplexities(std::span<const Sentence> sentences, double bound) {
  std::vector<double> limits;
  for (const Sentence& sentence : sentences) limits.push_back(predicted(sentence) * std::log(bound));
  std::vector<double> result = trunk_.losses(sentences, limits);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::exp(result[i] / predicted(sentences[i]));
  return result;
}

// Of the gradient of the mean loss.
std::vector<double> PriorScore::norms(std::span<const Sentence> sentences) const {
  std::vector<double> result = model_->gradient_norms(sentences, names_);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] /= predicted(sentences[i]);
  return result;
}

std::vector<double> PriorScore::operator()(std::span<const Sentence> sentences) {
  if (beta_ == 0) return perplexities(sentences, INFINITY);
  std::vector<double> loss;
  std::vector<double> result = model_->gradient_norms(model_->examples(sentences), names_, &loss);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::exp(loss[i] / predicted(sentences[i])) + beta_ * result[i] / predicted(sentences[i]);
  return result;
}

std::optional<PriorScore::Best> PriorScore::best_below(std::span<const Sentence> sentences, double bound) {
  const std::vector<double> perplexity = perplexities(sentences, bound);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (perplexity[i] < bound) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return perplexity[i]; });
  std::optional<Best> best;
  for (std::size_t first = 0; first < order.size() && perplexity[order[first]] < bound;
       first += kNormsAtOnce) {
    std::vector<Sentence> some;
    std::vector<double> scores;
    for (std::size_t i = first; i < std::min(first + kNormsAtOnce, order.size()); ++i)
      if (perplexity[order[i]] < bound) {
        some.push_back(sentences[order[i]]);
        scores.push_back(perplexity[order[i]]);
      }
    if (beta_ > 0) {
      const std::vector<double> norm = norms(some);
      for (std::size_t i = 0; i < some.size(); ++i) scores[i] += beta_ * norm[i];
    }
    for (std::size_t i = 0; i < some.size(); ++i)
      if (scores[i] < bound) {
        bound = scores[i];
        best = Best{order[first + i], bound};
      }
  }
  return best;
}

}  // namespace undertext
