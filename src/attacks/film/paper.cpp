#include "attacks/film/paper.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "models/some_words.h"
#include "models/transformer/reader.h"

namespace undertext {
namespace {

using Bigrams = std::set<std::pair<Token, Token>>;

constexpr std::size_t kCandidates = 64;  // scored in each step of reordering
constexpr std::size_t kCuts = 3;         // of a sentence whose phrases change places

Bigrams bigrams_of(const Sentence& sentence) {
  Bigrams result;
  for (std::size_t i = 1; i < sentence.size(); ++i) result.insert({sentence[i - 1], sentence[i]});
  return result;
}

struct Beam {
  Sentence tokens;
  StateId state = -1;
  double score = 0;  // log-probability of all but the first token
};

class Search {
 public:
  Search(std::shared_ptr<const Transformer> model, const std::vector<Token>& bag)
      : model_(std::move(model)), bag_(bag), words_(*model_, bag) {}

  // Algorithm 1 with n = 2 and a penalty that no beam outweighs: a pair of tokens occurs once in a sentence,
  // and never when an earlier sentence has it.
  Beam run(const std::vector<Token>& starts, const Bigrams& blocked, std::int64_t longest, std::int64_t k) {
    TransformerReader reader(model_);
    std::vector<Beam> beams;
    for (const Token start : starts) beams.push_back({{start}, -1, 0});
    read(reader, beams);
    for (std::int64_t place = 1; place < longest; ++place) {
      std::vector<Beam> grown = step(reader, beams, blocked, k);
      if (grown.empty()) break;
      beams = std::move(grown);
      read(reader, beams);
    }
    return beams.empty() ? Beam{} : beams.front();
  }

 private:
  static void read(TransformerReader& reader, std::vector<Beam>& beams) {
    std::vector<StateId> needed, from;
    for (const Beam& beam : beams)
      if (beam.state >= 0) needed.push_back(beam.state);
    std::ranges::sort(needed);
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    reader.keep(needed);
    std::vector<Token> tokens;
    for (const Beam& beam : beams) {
      const auto at = std::ranges::lower_bound(needed, beam.state) - needed.begin();
      from.push_back(beam.state < 0 ? -1 : static_cast<StateId>(at));
      tokens.push_back(beam.tokens.back());
    }
    const StateId first = reader.extend(from, tokens);
    for (std::size_t i = 0; i < beams.size(); ++i) beams[i].state = first + static_cast<StateId>(i);
  }

  // The k best continuations by tokens of the bag. The probability of a token among those of the bag alone
  // would do as well for one beam, but not to compare beams: it is that among all tokens.
  std::vector<Beam> step(const TransformerReader& reader, const std::vector<Beam>& beams,
                         const Bigrams& blocked, std::int64_t k) const {
    const auto n = static_cast<std::int64_t>(beams.size());
    const float* h = reader.hidden(beams.front().state);
    const Matrix<float> logits = words_.logits(h, n);
    const Matrix<float> all = everything().logits(h, n);
    struct Child {
      double score;
      std::size_t beam;
      Token token;
    };
    std::vector<Child> children;
    for (std::size_t b = 0; b < beams.size(); ++b) {
      const float* row = all.row(static_cast<std::int64_t>(b));
      const float maximum = *std::max_element(row, row + all.cols);
      double total = 0;
      for (std::int64_t j = 0; j < all.cols; ++j) total += std::exp(row[j] - maximum);
      const double log_sum = maximum + std::log(total);
      const Bigrams own = bigrams_of(beams[b].tokens);
      for (std::size_t j = 0; j < bag_.size(); ++j) {
        const std::pair pair(beams[b].tokens.back(), bag_[j]);
        if (own.contains(pair) || blocked.contains(pair)) continue;
        const float logit = logits(static_cast<std::int64_t>(b), static_cast<std::int64_t>(j));
        children.push_back({beams[b].score + logit - log_sum, b, bag_[j]});
      }
    }
    const auto best = std::min<std::size_t>(children.size(), static_cast<std::size_t>(k));
    std::partial_sort(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(best), children.end(),
                      [](const Child& x, const Child& y) {
                        return x.score != y.score ? x.score > y.score
                                                  : std::pair(x.beam, x.token) < std::pair(y.beam, y.token);
                      });
    std::vector<Beam> result;
    for (std::size_t i = 0; i < best; ++i) {
      const Beam& parent = beams[children[i].beam];
      result.push_back({parent.tokens, parent.state, children[i].score});
      result.back().tokens.push_back(children[i].token);
    }
    return result;
  }

  const SomeWords& everything() const {
    if (!everything_) {
      std::vector<Token> all(static_cast<std::size_t>(model_->vocabulary_size()));
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<Token>(k);
      everything_.emplace(*model_, all);
    }
    return *everything_;
  }

  std::shared_ptr<const Transformer> model_;
  std::vector<Token> bag_;
  SomeWords words_;
  mutable std::optional<SomeWords> everything_;
};

// Equation 4 of many sentences at once: perplexity and gradient norm of the mean loss. Less is better.
class PriorScore {
 public:
  PriorScore(const Transformer& model, const FilmOptions& options) : model_(model), beta_(options.beta) {
    if (options.fast_norm)
      names_ = {model.names().layers[static_cast<std::size_t>(model.config().layers / 2)].norm1_weight};
  }
  std::vector<double> operator()(const std::vector<Sentence>& sentences) const {
    const std::vector<Example> examples = model_.examples(sentences);
    const std::vector<double> loss = model_.negative_log_likelihood(examples);
    const std::vector<double> norm = model_.gradient_norms(examples, names_);
    std::vector<double> result(sentences.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double words = std::max(1.0, static_cast<double>(sentences[i].size()) - 1);
      result[i] = std::exp(loss[i] / words) + beta_ * norm[i] / words;
    }
    return result;
  }

 private:
  const Transformer& model_;
  double beta_;
  std::vector<std::string> names_;
};

Sentence phrases_moved(const Sentence& sentence, Random& random) {
  std::set<std::size_t> cuts;
  while (cuts.size() < std::min(kCuts, sentence.size() - 2))
    cuts.insert(1 + random.below(sentence.size() - 1));
  std::vector<Sentence> phrases;
  std::size_t from = *cuts.begin();  // what comes before the first cut stays
  Sentence result(sentence.begin(), sentence.begin() + static_cast<std::ptrdiff_t>(from));
  for (auto cut = std::next(cuts.begin());; ++cut) {
    const std::size_t to = cut == cuts.end() ? sentence.size() : *cut;
    phrases.emplace_back(sentence.begin() + static_cast<std::ptrdiff_t>(from),
                         sentence.begin() + static_cast<std::ptrdiff_t>(to));
    from = to;
    if (cut == cuts.end()) break;
  }
  for (std::size_t i = phrases.size(); i > 1; --i) std::swap(phrases[i - 1], phrases[random.below(i)]);
  for (const Sentence& phrase : phrases) result.insert(result.end(), phrase.begin(), phrase.end());
  return result;
}

Sentence token_changed(Sentence sentence, const std::vector<Token>& bag, Random& random) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(1 + random.below(sentence.size() - 1)); };
  switch (random.below(3)) {
    case 0:
      std::swap(sentence[static_cast<std::size_t>(place())], sentence[static_cast<std::size_t>(place())]);
      break;
    case 1:
      if (sentence.size() > 2) sentence.erase(sentence.begin() + place());
      break;
    default:
      sentence.insert(sentence.begin() + place(), bag[random.below(bag.size())]);
  }
  return sentence;
}

// The best of what random changes give, as long as it gets better.
template <typename Change>
void reorder(Sentence& sentence, const PriorScore& score, std::int64_t steps, std::int64_t longest, Seed seed,
             Change change) {
  double best = score({sentence})[0];
  for (std::int64_t step = 0; step < steps && sentence.size() > 3; ++step) {
    std::set<Sentence> tried;
    Random random(seed.derive(static_cast<std::uint64_t>(step)));
    for (std::size_t i = 0; i < kCandidates; ++i) {
      Sentence candidate = change(sentence, random);
      if (std::ssize(candidate) <= longest && candidate != sentence) tried.insert(std::move(candidate));
    }
    if (tried.empty()) continue;
    const std::vector<Sentence> candidates(tried.begin(), tried.end());
    const std::vector<double> scores = score(candidates);
    const auto at = std::ranges::min_element(scores) - scores.begin();
    if (scores[static_cast<std::size_t>(at)] >= best) continue;
    best = scores[static_cast<std::size_t>(at)];
    sentence = candidates[static_cast<std::size_t>(at)];
  }
}

// Footnote 7: what follows the first end of a sentence goes, where that lowers the score.
void cut_at_end(Sentence& sentence, const PriorScore& score, const std::vector<Token>& ends) {
  const auto end = std::ranges::find_first_of(sentence, ends);
  if (end == sentence.end() || end - sentence.begin() < 2 || end + 1 == sentence.end()) return;
  const Sentence shorter(sentence.begin(), end + 1);
  const std::vector<double> scores = score({sentence, shorter});
  if (scores[1] < scores[0]) sentence = shorter;
}

}  // namespace

std::vector<FilmSentence> film_as_in_paper(const std::shared_ptr<const Transformer>& model,
                                           const std::vector<Token>& bag, std::int64_t longest,
                                           const FilmOptions& options) {
  std::vector<Token> starts;
  for (const Token token : bag)
    if (options.starts.empty() || std::ranges::find(options.starts, token) != options.starts.end())
      starts.push_back(token);
  if (starts.empty()) starts = bag;
  std::vector<FilmSentence> result;
  if (bag.empty()) return result;
  Search search(model, bag);
  const PriorScore score(*model, options);
  Bigrams blocked;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, options.sentences); ++i) {
    const Beam best = search.run(starts, blocked, longest, options.beam);
    if (best.tokens.size() < 2) break;
    blocked.merge(bigrams_of(best.tokens));
    Sentence sentence = best.tokens;
    const Seed seed = options.seed.derive("reorder").derive(static_cast<std::uint64_t>(i));
    cut_at_end(sentence, score, options.ends);
    if (options.reorder == FilmReorder::phrases || options.reorder == FilmReorder::both)
      reorder(sentence, score, options.reorder_steps, longest, seed.derive("phrases"), phrases_moved);
    if (options.reorder == FilmReorder::tokens || options.reorder == FilmReorder::both)
      reorder(sentence, score, options.reorder_steps, longest, seed.derive("tokens"),
              [&](const Sentence& from, Random& random) { return token_changed(from, bag, random); });
    result.push_back({sentence, -score({sentence})[0], 0, false});
  }
  std::ranges::stable_sort(result, std::greater<>(), &FilmSentence::score);
  return result;
}

}  // namespace undertext
