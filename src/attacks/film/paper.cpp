#include "attacks/film/paper.h"

#include <algorithm>

#include "attacks/film/beam_search.h"
#include "attacks/film/reorder.h"

namespace undertext {
namespace {

// Bag tokens that may begin a sentence; all of them where none may.
std::vector<Token> starts_in(const std::vector<Token>& bag, const std::vector<Token>& allowed) {
  std::vector<Token> starts;
  for (const Token token : bag)
    if (std::ranges::find(allowed, token) != allowed.end()) starts.push_back(token);
  return starts.empty() ? bag : starts;
}

}  // namespace

std::vector<FilmSentence> film_as_in_paper(const std::shared_ptr<const Transformer>& model,
                                           const std::vector<Token>& bag, std::int64_t longest,
                                           const FilmOptions& options) {
  if (bag.empty()) return {};
  const std::vector<Token> starts = starts_in(bag, options.starts);
  BeamSearch search(model, bag,
                    {.beams = options.beam,
                     .groups = options.groups,
                     .diversity = options.diversity,
                     .ngram = options.ngram,
                     .ngram_penalty = options.ngram_penalty,
                     .longest = longest});
  PriorScore score(model, {.beta = options.beta, .fast_norm = options.fast_norm});
  ReorderOptions reordering{.what = options.reorder,
                            .phrase_steps = options.phrase_steps,
                            .token_steps = options.token_steps,
                            .swaps_only = options.swaps_only,
                            .longest = longest};
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(1, options.sentences));
  std::vector<FilmSentence> result;
  std::vector<Sentence> earlier;  // section 4.5: whose n-grams later searches pay for
  while (result.size() < wanted) {
    std::vector<Hypothesis> found = search.run(starts, earlier);
    std::erase_if(found, [](const Hypothesis& one) { return one.tokens.size() < 2; });
    if (found.empty()) break;
    for (const Hypothesis& one : found) earlier.push_back(one.tokens);
    if (found.size() > wanted - result.size()) found.resize(wanted - result.size());
    for (Hypothesis& one : found) {
      if (options.trace) options.trace("one more sentence was searched");
      cut_at_end(one.tokens, score, options.ends, options.cut_always);
      reordering.seed = options.seed.derive("reorder").derive(result.size());
      const double reached = reorder(one.tokens, score, bag, reordering);
      result.push_back({one.tokens, -reached, 0, false});
    }
  }
  std::ranges::stable_sort(result, std::greater<>(), &FilmSentence::score);
  return result;
}

}  // namespace undertext
