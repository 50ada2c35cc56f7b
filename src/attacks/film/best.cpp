#include "attacks/film/best.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "attacks/bag_of_words.h"
#include "attacks/film/explain.h"
#include "attacks/film/residual.h"
#include "attacks/film/span_search.h"
#include "attacks/film/step_search.h"
#include "attacks/film/whole_texts.h"
#include "base/error.h"
#include "base/quantile.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

constexpr std::int64_t kOwnTexts = 160;  // of the model's own making
constexpr std::int64_t kOwnLength = 24;  // tokens of each at most
constexpr double kRidge = 0.01;
constexpr std::int64_t kLikelyTokens = 400;  // that the model's own texts are made of
constexpr std::int64_t kStarts = 1200;       // tokens that are tried as first ones
constexpr int kRounds = 24;
constexpr double kOwnShare = 0.5;      // of the filter's moments, from the model's own text; or all
constexpr int kWays = 2;               // rounds that lead no further, each in another way, before the last
constexpr double kLittle = 0.15;       // is left: one text at most is wrong
constexpr double kBoldPrior = 0.3;     // weight of the model's prediction when it leads no further
constexpr std::size_t kPool = 240;     // candidates that are fitted at once
constexpr std::size_t kRepairs = 100;  // of which change one token of a kept sentence
constexpr double kExplained = 1e-4;    // of the last block's gradient is left: nothing more to find
constexpr double kHardlyAny = 0.9;     // is left: what was found is not what was typed
constexpr double kCutOff = 0.5;        // confidence in a text that does not end as the others do, relative
constexpr double kSpread = 1.5, kSpreadOfOne = 1.3;  // how far a step may be from what one would guess
constexpr int kHalvings = 3;                         // of the first guess of what one step weighs
constexpr double kNearlyAll = 0.03;                  // is left: whole copies may leave nothing
constexpr double kProgress = 0.98;                   // of what was left before: the search goes on as it is
constexpr double kAsMuch = 1.05;                     // of what a fit leaves: whole copies are as good
constexpr double kKept = 0.35;  // of one occurrence: the least weight that keeps a sentence

// weight: (out, in).
Matrix<double> joined(const LayerViews::Affine& of) {
  if (!of.weight.defined()) return {};
  const at::Tensor bias = of.bias.defined() ? of.bias : at::zeros({of.weight.size(0)}, of.weight.options());
  const at::Tensor both = at::cat({of.weight.t(), bias.unsqueeze(0)}).contiguous();
  Matrix<double> result(both.size(0), both.size(1));
  std::copy_n(both.data_ptr<double>(), both.numel(), result.data.begin());
  return result;
}

TailGradient tail_gradient(const Observation& observation, const Transformer& model) {
  NamedTensors sums;
  for (const auto& [name, tensor] : observation.update.tensors)
    sums[name] = summed_gradient(observation, name);
  const auto last = static_cast<std::size_t>(model.config().layers - 1);
  const LayerViews views = layer_views(model, sums, last);
  if (!views.outer.weight.defined())
    fail("the update does not hold {}: the attack reads the steps of the text there",
         model.names().layers[last].outer_weight);
  return {joined(views.outer), joined(views.inner), joined(views.attention)};
}

// Tokens by how far their rows of the embedding moved, most first; all alike where they are not in the
// update.
std::vector<Token> by_rows(const Observation& observation, const Transformer& model) {
  std::vector<Token> order(static_cast<std::size_t>(model.config().vocabulary));
  std::iota(order.begin(), order.end(), 0);
  const std::string& name = model.names().token_embedding;
  if (!observation.update.tensors.contains(name)) return order;
  const at::Tensor norms = summed_gradient(observation, name).norm(2, 1).contiguous();
  const double* norm = norms.data_ptr<double>();
  std::ranges::stable_sort(order, [&](Token a, Token b) { return norm[a] > norm[b]; });
  return order;
}

std::vector<Token> first_of(const std::vector<Token>& order, std::int64_t count) {
  return {order.begin(), order.begin() + std::min<std::int64_t>(count, std::ssize(order))};
}

// Sentences that are right have the weight of one occurrence, or rarely of more; those that are wrong share
// it with others, or make up for what is missing. So it is the median of the weights near what single steps
// said of it.
double one_of(const std::vector<double>& weight, double guess) {
  constexpr double kLeast = 0.6, kMost = 1.8;
  std::vector<double> near;
  for (const double value : weight)
    if (value > kLeast * guess && value < kMost * guess) near.push_back(value);
  return near.empty() ? guess : quantile(std::move(near), 0.5);
}

}  // namespace

FilmRecovery film_by_evidence(const Observation& observation, const std::shared_ptr<const Transformer>& model,
                              const FilmOptions& options) {
  const Tail tail(model);
  const TailGradient gradient = tail_gradient(observation, *model);
  const std::vector<Token> order = by_rows(observation, *model);
  const bool rows = observation.update.tensors.contains(model->names().token_embedding);
  FilmRecovery result;
  result.longest = longest_text(observation);

  // The exact way first.
  const double known = observation.update.protocol.reduction == Reduction::sum ? 1 : 0;
  const std::int64_t places = result.longest > 0 ? result.longest : options.longest;
  const SpanSearch span(observation, model);
  const std::optional<std::vector<Token>> bag = span.bag(places);
  std::vector<char> read;
  if (bag) {
    result.bag = *bag;
    result.bag_from = "span";
    result.bag_confidence = 1;
    for (Sentence& sentence : span.sentences(tail, gradient, *bag, places, known, options.trace))
      result.sentences.push_back({std::move(sentence), 1, 0, false});
    certify(observation, *model, result);
    if (result.certified) return result;
    result.sentences.clear();
    read.assign(static_cast<std::size_t>(model->config().vocabulary), 0);
    for (const Token token : *bag) read[static_cast<std::size_t>(token)] = 1;
  }

  const std::int64_t own_length = std::min(kOwnLength, model->config().positions);
  const OwnText own = own_text(model, tail,
                               bag    ? *bag
                               : rows ? first_of(order, kLikelyTokens)
                                      : order,
                               kOwnTexts, own_length, options.seed.derive("own"));
  const StepSearch search(model, tail, bag ? *bag : rows ? first_of(order, kStarts) : order);
  const Explainer explainer(model, tail);
  Filter filter(own.contexts, own.steps, own_length, kRidge);

  StepSearchOptions how;
  how.weight = known;
  // Where the model all but knew how the longest text ends, that place moves too little to be seen.
  how.longest = result.longest > 0 ? result.longest + 1 : options.longest;
  how.longest = std::min(how.longest, model->config().positions);
  const std::int64_t batch = options.batch > 0 ? options.batch : observation.update.protocol.count;
  how.starts = std::max<std::int64_t>(48, 4 * batch);
  how.per_start = std::max<std::int64_t>(2, options.beam / 5);

  // Of a mean one step weighs one over the number of steps, and texts are about half as long as the longest.
  const auto plausible = [&](double weight) {
    if (weight == 0 || batch == 0 || result.longest == 0) return weight;
    const double about = 2 / static_cast<double>(batch * result.longest);
    const double spread = std::max(kSpread, 1 + kSpreadOfOne / std::sqrt(static_cast<double>(batch)));
    return std::clamp(weight, about / spread, about * spread);
  };
  double guess = 0;  // of what one step weighs, where the loss is a mean
  int halvings = 0;
  std::vector<Sentence> kept;
  Explanation now;
  now.residual = gradient;
  double least = 1;  // that was left so far
  double own_share = kOwnShare;
  int stuck = 0;  // rounds that led no further
  // Takes whole copies for what was fitted, where they explain as much, or whatever they explain.
  const auto settle = [&](bool always) {
    if (kept.empty()) return;
    const WholeTexts whole = whole_texts(
        model, tail, gradient, kept, now.weight,
        {.weight = how.weight, .fixed = known > 0, .mean = known == 0, .longest = how.longest, .read = read});
    if (options.trace)
      options.trace(fmt::format("whole: one {:.6g}, {} texts, left {:.3g}", whole.weight, whole.texts.size(),
                                whole.left));
    if (!always && whole.left > kAsMuch * now.left) return;
    kept = whole.texts;
    how.weight = whole.weight;
    std::vector<double> weight = whole.count;
    for (double& value : weight) value *= whole.weight;
    now = explainer.with(filter, gradient, kept, weight, how.weight);
  };
  // What is left beside all texts but the one that is trusted least, so that it can be read anew.
  const auto without_doubtful = [&] {
    const auto at = std::ranges::min_element(now.confidence) - now.confidence.begin();
    std::vector<Sentence> trusted = kept;
    std::vector<double> weight = now.weight;
    trusted.erase(trusted.begin() + at);
    weight.erase(weight.begin() + at);
    return explainer.with(filter, gradient, trusted, weight, how.weight).residual;
  };
  for (int round = 0; round < kRounds; ++round) {
    filter.observe(stuck > 0 && now.left < kLittle ? without_doubtful() : now.residual, own_share);
    const StepScores scores(tail, filter, own, read);
    if (how.weight == 0) {
      how.weight = guess = weight_of_one(search.first_steps(scores, 0));
      how.weight = guess = plausible(guess);
    }
    if (how.weight == 0) break;
    if (options.trace) options.trace(fmt::format("one {:.4g}", how.weight));
    std::vector<FoundPrefix> found = search.run(scores, kept, how);
    std::vector<Sentence> pool = kept;
    std::set<Sentence> in_pool(kept.begin(), kept.end());
    for (Sentence& sentence : search.repairs(scores, kept, how)) {
      if (pool.size() >= kRepairs + kept.size()) break;
      if (in_pool.insert(sentence).second) pool.push_back(std::move(sentence));
    }
    for (FoundPrefix& prefix : found) {
      if (pool.size() >= kPool + kept.size()) break;
      if (in_pool.insert(prefix.tokens).second) pool.push_back(std::move(prefix.tokens));
    }
    if (pool.size() == kept.size()) break;
    filter.measure(gradient);
    const Explanation fitted = explainer.fit(filter, gradient, pool);
    how.weight = known > 0 ? known : plausible(one_of(fitted.weight, how.weight));
    std::vector<Sentence> chosen;
    for (std::size_t i = 0; i < pool.size(); ++i)
      if (fitted.weight[i] > kKept * how.weight) chosen.push_back(pool[i]);
    kept = std::move(chosen);
    now = explainer.fit(filter, gradient, kept);
    if (options.trace)
      options.trace(fmt::format("round {}: one {:.4g}, pool {}, kept {}, left {:.3g}", round + 1, how.weight,
                                pool.size(), kept.size(), now.left));
    // A step that several texts begin with passes for one that weighs more, and then no other fits.
    if (now.left > kHardlyAny && guess > 0 && batch == 0 && halvings++ < kHalvings) {
      how.weight = guess /= 2;
      kept.clear();
      now.residual = gradient;
      continue;
    }
    const bool further = now.left < kProgress * least;
    least = std::min(least, now.left);
    if (further && now.left > kNearlyAll) {
      stuck = 0;
      continue;
    }
    settle(false);
    least = std::min(least, now.left);
    if (now.left < kExplained) break;
    if (further) {
      stuck = 0;
      continue;
    }
    if (++stuck > kWays) break;
    // The last sentences are those that the model does not expect, or whose steps the filter takes for noise.
    if (how.prior == 1) {
      how.prior = kBoldPrior;
      how.children *= 2;
      how.per_start *= 2;
    }
    own_share = own_share == 1 ? kOwnShare : 1;
  }

  // Best first.
  if (now.left > kExplained) settle(true);
  if (!kept.empty()) {
    now = explainer.with(filter, gradient, kept, now.weight, how.weight);
    const std::set<Token> last = last_tokens(kept, read);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!last.empty() && !last.contains(kept[i].back())) now.confidence[i] *= kCutOff;
    std::vector<std::size_t> by(kept.size());
    std::iota(by.begin(), by.end(), std::size_t{0});
    std::ranges::stable_sort(
        by, [&](std::size_t a, std::size_t b) { return now.confidence[a] > now.confidence[b]; });
    for (const std::size_t i : by)
      for (std::int64_t copy = 0; copy < std::max(1.0, std::round(now.weight[i] / how.weight)); ++copy)
        result.sentences.push_back({kept[i], now.weight[i] / how.weight, now.confidence[i], false});
  }
  certify(observation, *model, result);
  return result;
}

}  // namespace undertext
