#include "attacks/film/best.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

#include "attacks/bag_of_words.h"
#include "attacks/film/held_texts.h"
#include "attacks/film/residual.h"
#include "attacks/film/span_search.h"
#include "attacks/film/step_search.h"
#include "attacks/film/tail_gradient.h"
#include "attacks/film/whole_texts.h"

namespace undertext {
namespace {

constexpr std::int64_t kOwnTexts = 160;  // of the model's own making
constexpr std::int64_t kOwnLength = 24;  // tokens of each at most
constexpr double kRidge = 0.01;
constexpr std::int64_t kLikelyTokens = 400;  // that the model's own texts are made of
constexpr std::int64_t kStarts = 1200;       // tokens that are tried as first ones
constexpr std::int64_t kWords = 2000;        // tokens that are tried after a prefix
constexpr int kRounds = 24;
constexpr double kOwnShare = 0.5;   // of the filter's moments, from the model's own text; or all
constexpr int kWays = 2;            // rounds that lead no further, each in another way, before the last
constexpr double kLittle = 0.15;    // is left: one text at most is wrong
constexpr double kBoldPrior = 0.3;  // weight of the model's prediction when it leads no further
constexpr std::int64_t kPool = 240, kPoolPerText = 6;  // candidates that are fitted at once, at least
constexpr std::size_t kRepairs = 100;                  // of which change one token of a held text
constexpr double kExplained = 1e-4;  // of the last block's gradient is left: nothing more to find
constexpr double kHardlyAny = 0.9;   // is left: what was found is not what was typed
constexpr int kHalvings = 3;         // of the first guess of what one step weighs
constexpr double kNearlyAll = 0.03;  // is left: whole copies may leave nothing
constexpr double kProgress = 0.98;   // of what was left before: the search goes on as it is

// Which tokens the batch may hold.
struct Vocabulary {
  std::vector<Token> own;     // that the model's own texts are made of
  std::vector<Token> starts;  // that texts may begin with
  std::vector<Token> words;   // that may come later
  std::vector<char> read;     // of each token whether the batch has it elsewhere than at ends; empty: unknown
};

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

// Of each token whether it is one of these.
std::vector<char> marked(const std::vector<Token>& tokens, const Transformer& model) {
  std::vector<char> result(static_cast<std::size_t>(model.config().vocabulary), 0);
  for (const Token token : tokens) result[static_cast<std::size_t>(token)] = 1;
  return result;
}

std::vector<Token> those_in(const std::vector<Token>& tokens, const std::vector<Token>& bag) {
  const std::set<Token> there(bag.begin(), bag.end());
  std::vector<Token> result;
  std::ranges::copy_if(tokens, std::back_inserter(result),
                       [&](Token token) { return there.contains(token); });
  return result;
}

// given: all tokens of the batch, from an oracle. bag: as below.
Vocabulary vocabulary_of(const std::vector<Token>& given, const Transformer& model,
                         const std::optional<std::vector<Token>>& bag) {
  Vocabulary result{.own = given, .starts = bag ? *bag : given, .words = given, .read = {}};
  if (bag) result.read = marked(*bag, model);
  return result;
}

// bag: all but the tokens that only end texts, where that is known.
Vocabulary vocabulary_of(const Observation& observation, const Transformer& model,
                         const std::optional<std::vector<Token>>& bag) {
  const std::vector<Token> order = by_rows(observation, model);
  const bool rows = observation.update.tensors.contains(model.names().token_embedding);
  Vocabulary result;
  result.words = rows ? first_of(order, kWords) : order;
  if (!bag) {
    result.own = rows ? first_of(order, kLikelyTokens) : order;
    result.starts = rows ? first_of(order, kStarts) : order;
    return result;
  }
  result.own = result.starts = *bag;
  result.read = marked(*bag, model);
  const std::set<Token> there(result.words.begin(), result.words.end());
  for (const Token token : *bag)
    if (!there.contains(token)) result.words.push_back(token);
  return result;
}

// Of the tokens that the sentences read, those that the bag holds.
double share_in(const std::vector<Token>& bag, const std::vector<FilmSentence>& sentences) {
  std::set<Token> all;
  for (const FilmSentence& sentence : sentences) all.insert(sentence.ids.begin(), sentence.ids.end() - 1);
  if (all.empty()) return 0;
  const auto there =
      std::ranges::count_if(all, [&](Token token) { return std::ranges::binary_search(bag, token); });
  return static_cast<double>(there) / static_cast<double>(all.size());
}

// The held texts, some changes of them, and what a search found, each once.
std::vector<Sentence> pool_of(const std::vector<Sentence>& held, const std::vector<char>& read,
                              std::int64_t longest, std::vector<Sentence> repairs,
                              std::vector<FoundPrefix> found, std::int64_t most) {
  std::vector<Sentence> pool = held;
  std::set<Sentence> in_pool(held.begin(), held.end());
  const auto add = [&](Sentence text, std::size_t limit) {
    if (pool.size() < limit && in_pool.insert(text).second) pool.push_back(std::move(text));
  };
  // The last step of a text looks like that of any other, so that a filter takes it for noise.
  for (const Token last : last_tokens(held, read))
    for (const Sentence& text : held)
      if (text.back() != last && std::ssize(text) < longest) {
        Sentence ended = text;
        ended.push_back(last);
        add(std::move(ended), 2 * held.size());
      }
  const std::size_t first = pool.size();
  for (Sentence& text : repairs) add(std::move(text), kRepairs + first);
  for (FoundPrefix& prefix : found) add(std::move(prefix.tokens), static_cast<std::size_t>(most) + first);
  return pool;
}

}  // namespace

FilmRecovery film_by_evidence(const Observation& observation, const std::shared_ptr<const Transformer>& model,
                              const FilmOptions& options) {
  const Tail tail(model);
  const TailGradient gradient = tail_gradient(observation, *model);
  FilmRecovery result;
  result.longest = longest_text(observation);

  // The exact way first.
  const Protocol& protocol = observation.update.protocol;
  const double known = counts_are_whole(protocol) ? 1 : 0;
  const std::int64_t places = result.longest > 0 ? result.longest : options.longest;
  const SpanSearch span(observation, model);
  std::optional<std::vector<Token>> bag = span.bag(places);
  if (bag && options.bag == FilmBag::oracle) bag = those_in(*bag, options.oracle_bag);
  if (bag) {
    result.bag = *bag;
    result.bag_from = "span";
    result.bag_confidence = 1;
    for (Sentence& sentence : span.sentences(tail, gradient, *bag, places, known, options.trace))
      result.sentences.push_back({std::move(sentence), 1, 0, false});
    certify(observation, *model, result);
    if (result.certified) return result;
    result.sentences.clear();
  }

  const Vocabulary vocabulary = options.bag == FilmBag::oracle
                                    ? vocabulary_of(options.oracle_bag, *model, bag)
                                    : vocabulary_of(observation, *model, bag);
  const std::int64_t own_length = std::min(kOwnLength, model->config().positions);
  const OwnText own =
      own_text(model, tail, vocabulary.own, kOwnTexts, own_length, options.seed.derive("own"));
  const StepSearch search(model, tail, vocabulary.starts);
  Filter filter(own.contexts, own.steps, own_length, kRidge);

  const std::int64_t batch = options.batch > 0 ? options.batch : protocol.count;
  StepSearchOptions how;
  // Where the model all but knew how the longest text ends, that place moves too little to be seen.
  how.longest =
      std::min(result.longest > 0 ? result.longest + 1 : options.longest, model->config().positions);
  how.starts = std::max<std::int64_t>(48, 4 * batch);
  how.per_start = std::max<std::int64_t>(2, options.beam / 5);

  // What was clipped weighs less than the number of its steps says.
  const bool clipped = protocol.defence.clip > 0 || protocol.defence.text_clip > 0;
  const StepWeight weight(known, batch, clipped ? 0 : result.longest);
  HeldTexts held(model, tail, gradient, weight,
                 {.longest = how.longest, .read = vocabulary.read, .trace = options.trace});
  double guess = 0;  // of what one step weighs
  int halvings = 0;
  double least = 1;  // that was left so far
  double own_share = kOwnShare;
  std::vector<char> read = vocabulary.read;
  int stuck = 0;  // rounds that led no further
  for (int round = 0; round < kRounds; ++round) {
    filter.observe(stuck > 0 && held.left() < kLittle ? held.without_doubtful(filter) : held.residual(),
                   own_share);
    const StepScores scores(tail, filter, own, vocabulary.words, read);
    if (held.one() == 0) held.set_one(guess = weight.first(search.first_steps(scores, 0)));
    if (held.one() == 0) break;
    how.weight = held.one();
    const std::vector<Sentence> pool =
        pool_of(held.texts(), vocabulary.read, how.longest, search.repairs(scores, held.texts(), how),
                search.run(scores, held.texts(), how), std::max(kPool, kPoolPerText * batch));
    if (pool.size() == held.texts().size()) break;
    held.choose(filter, pool);
    // A step that several texts begin with passes for one that weighs more, and then no other fits.
    if (held.left() > kHardlyAny && !weight.known() && !weight.batch_known() && halvings++ < kHalvings) {
      held.set_one(guess /= 2);
      held.drop_all();
      continue;
    }
    const bool further = held.left() < kProgress * least;
    least = std::min(least, held.left());
    if (further && held.left() > kNearlyAll) {
      stuck = 0;
      continue;
    }
    held.settle(filter, false);
    least = std::min(least, held.left());
    if (held.left() < kExplained) break;
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
    // Where the batch nearly fills the layer, the bag lacks tokens that moved little.
    read.clear();
  }

  if (held.left() > kExplained) held.settle(filter, true);
  result.sentences = held.best_first(filter);
  if (bag && options.bag == FilmBag::gradient) result.bag_confidence = share_in(*bag, result.sentences);
  certify(observation, *model, result);
  return result;
}

}  // namespace undertext
