#include "attacks/film/held_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "attacks/film/whole_texts.h"

namespace undertext {
namespace {

constexpr double kKept = 0.35;    // of one occurrence: the least weight that keeps a text
constexpr double kAsMuch = 1.05;  // of what a fit leaves: whole copies are as good
constexpr double kCutOff = 0.5;   // confidence in a text that does not end as the others do, relative

// Of texts that are trusted less and less, so many copies that they are no more than `most` in all; 0: any
// number. What the model knew all but surely moves nothing, and a fit may take it any number of times: the
// last lose their copies first, and then go themselves.
void keep_at_most(std::int64_t most, std::vector<std::int64_t>& copies) {
  if (most == 0) return;
  std::int64_t total = std::accumulate(copies.begin(), copies.end(), std::int64_t{0});
  for (const std::int64_t least : {1, 0})
    for (auto at = copies.rbegin(); at != copies.rend() && total > most; ++at) {
      const std::int64_t fewer = std::min(*at - least, total - most);
      *at -= fewer;
      total -= fewer;
    }
}

}  // namespace

HeldTexts::HeldTexts(std::shared_ptr<const Transformer> model, const Tail& tail, const TailGradient& gradient,
                     StepWeight weight, HeldTextsOptions options)
    : model_(std::move(model)),
      tail_(tail),
      gradient_(gradient),
      weight_(weight),
      options_(std::move(options)),
      explainer_(model_, tail) {
  now_.residual = gradient;
}

void HeldTexts::choose(Filter& filter, const std::vector<Sentence>& pool) {
  filter.measure(gradient_);
  const Explanation fitted = explainer_.fit(filter, gradient_, pool);
  one_ = weight_.of_texts(fitted.weight, one_);
  texts_.clear();
  for (std::size_t i = 0; i < pool.size(); ++i)
    if (fitted.weight[i] > kKept * one_) texts_.push_back(pool[i]);
  now_ = explainer_.fit(filter, gradient_, texts_);
  if (options_.trace)
    options_.trace(fmt::format("one {:.4g}, of {} texts {} held, left {:.3g}", one_, pool.size(),
                               texts_.size(), now_.left));
}

void HeldTexts::drop_all() {
  texts_.clear();
  now_ = {};
  now_.residual = gradient_;
}

void HeldTexts::settle(const Filter& filter, bool always) {
  if (texts_.empty()) return;
  const WholeTexts whole = whole_texts(model_, tail_, gradient_, texts_, now_.weight,
                                       {.weight = one_,
                                        .fixed = weight_.known(),
                                        .mean = !weight_.known(),
                                        .longest = options_.longest,
                                        .read = options_.read});
  if (options_.trace)
    options_.trace(fmt::format("whole: one {:.4g}, {} texts, left {:.3g}", whole.weight, whole.texts.size(),
                               whole.left));
  if (!always && whole.left > kAsMuch * now_.left) return;
  texts_ = whole.texts;
  one_ = whole.weight;
  std::vector<double> weight = whole.count;
  for (double& value : weight) value *= one_;
  now_ = explainer_.with(filter, gradient_, texts_, weight, one_);
}

TailGradient HeldTexts::without_doubtful(const Filter& filter) const {
  if (texts_.empty()) return now_.residual;
  const auto at = std::ranges::min_element(now_.confidence) - now_.confidence.begin();
  std::vector<Sentence> trusted = texts_;
  std::vector<double> weight = now_.weight;
  trusted.erase(trusted.begin() + at);
  weight.erase(weight.begin() + at);
  return explainer_.with(filter, gradient_, trusted, weight, one_).residual;
}

std::vector<FilmSentence> HeldTexts::best_first(const Filter& filter) const {
  if (texts_.empty()) return {};
  std::vector<double> confidence = explainer_.with(filter, gradient_, texts_, now_.weight, one_).confidence;
  // A text may fit what little the texts explain, as of a gradient that was pruned, and be none of them.
  const double explained = std::max(0.0, 1 - now_.left * now_.left);
  const std::set<Token> last = last_tokens(texts_, options_.read);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    confidence[i] *= explained;
    if (!last.empty() && !last.contains(texts_[i].back())) confidence[i] *= kCutOff;
  }
  std::vector<std::size_t> by(texts_.size());
  std::iota(by.begin(), by.end(), std::size_t{0});
  std::ranges::stable_sort(by, std::greater<>(), [&](std::size_t i) { return confidence[i]; });
  std::vector<std::int64_t> copies;
  for (const std::size_t i : by)
    copies.push_back(std::max<std::int64_t>(1, std::llround(now_.weight[i] / one_)));
  keep_at_most(weight_.batch(), copies);
  std::vector<FilmSentence> result;
  for (std::size_t at = 0; at < by.size(); ++at)
    for (std::int64_t copy = 0; copy < copies[at]; ++copy)
      result.push_back({texts_[by[at]], now_.weight[by[at]] / one_, confidence[by[at]], false});
  return result;
}

}  // namespace undertext
