#include "attacks/film/beam_search.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/threads.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

const std::vector<Token> kBag = {2, 5, 11, 20, 33};

std::shared_ptr<const Transformer> model() {
  return small_transformer(small_config(TransformerKind::gpt2));
}

// Log-probability of all but the first token, from the logits of a whole pass.
double direct(const Transformer& model, const Sentence& sentence) {
  const at::Tensor logits =
      model.logits(std::vector<Example>{next_word_example(sentence)}).to(at::kDouble).log_softmax(1);
  double total = 0;
  for (std::size_t i = 1; i < sentence.size(); ++i)
    total += logits[static_cast<std::int64_t>(i - 1)][sentence[i]].item<double>();
  return total;
}

// n-grams of the sentence that come earlier in it or in one of the others.
std::int64_t repeated(const Sentence& sentence, const std::vector<Sentence>& others, std::size_t n) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i + n <= sentence.size(); ++i) {
    const Sentence gram(sentence.begin() + static_cast<std::ptrdiff_t>(i),
                        sentence.begin() + static_cast<std::ptrdiff_t>(i + n));
    const auto has = [&](const Sentence& in, std::size_t before) {
      for (std::size_t j = 0; j + n <= in.size() && j < before; ++j)
        if (std::equal(gram.begin(), gram.end(), in.begin() + static_cast<std::ptrdiff_t>(j))) return true;
      return false;
    };
    bool found = has(sentence, i);
    for (const Sentence& other : others) found = found || has(other, other.size());
    count += found ? 1 : 0;
  }
  return count;
}

// Every sentence of `length` tokens of the bag.
std::vector<Sentence> all_sentences(const std::vector<Token>& starts, std::size_t length) {
  std::vector<Sentence> result;
  for (const Token start : starts) result.push_back({start});
  for (std::size_t i = 1; i < length; ++i) {
    std::vector<Sentence> longer;
    for (const Sentence& sentence : result)
      for (const Token token : kBag) {
        longer.push_back(sentence);
        longer.back().push_back(token);
      }
    result = std::move(longer);
  }
  return result;
}

Sentence best_of_all(const Transformer& model, const std::vector<Token>& starts, std::size_t length,
                     std::size_t n, double penalty, const std::vector<Sentence>& earlier = {}) {
  Sentence best;
  double most = -INFINITY;
  for (const Sentence& sentence : all_sentences(starts, length)) {
    const auto count = static_cast<double>(n > 0 ? repeated(sentence, earlier, n) : 0);
    const double score = direct(model, sentence) - (count > 0 ? penalty * count : 0);
    if (score <= most) continue;
    most = score;
    best = sentence;
  }
  return best;
}

TEST(BeamSearch, WideEnoughItFindsWhatTryingAllFinds) {
  const auto m = model();
  const std::vector<Token> starts = {5, 20};
  struct Case {
    std::int64_t n;
    double penalty;
  };
  for (const Case c : {Case{2, INFINITY}, Case{2, 0.7}, Case{1, INFINITY}, Case{3, 2.0}, Case{0, INFINITY}}) {
    BeamSearch search(m, kBag, {.beams = 10000, .ngram = c.n, .ngram_penalty = c.penalty, .longest = 4});
    const std::vector<Hypothesis> found = search.run(starts, {});
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].tokens, best_of_all(*m, starts, 4, static_cast<std::size_t>(c.n), c.penalty)) << c.n;
    EXPECT_NEAR(found[0].log_probability, direct(*m, found[0].tokens), 1e-4);
  }
}

TEST(BeamSearch, EarlierSentencesCountAsSeen) {
  const auto m = model();
  BeamSearch search(m, kBag, {.beams = 10000, .longest = 4});
  const Sentence first = search.run({5}, {})[0].tokens;
  const Sentence second = search.run({5}, {first})[0].tokens;
  EXPECT_EQ(second, best_of_all(*m, {5}, 4, 2, INFINITY, {first}));
  EXPECT_EQ(repeated(second, {first}, 2), 0);
}

// By hand: of each beam's children the best k of all go on, ranked by the sum so far.
TEST(BeamSearch, KeepsTheBestOfEachStep) {
  const auto m = model();
  constexpr std::size_t kBeams = 3;
  std::vector<Sentence> beams = {{5}, {20}};
  for (int place = 1; place < 6; ++place) {
    std::vector<std::pair<double, Sentence>> children;
    for (const Sentence& beam : beams)
      for (const Token token : kBag) {
        Sentence child = beam;
        child.push_back(token);
        if (repeated(child, {}, 2) == 0) children.emplace_back(-direct(*m, child), child);
      }
    std::ranges::sort(children);
    beams.clear();
    for (std::size_t i = 0; i < kBeams; ++i) beams.push_back(children[i].second);
  }
  BeamSearch search(m, kBag, {.beams = kBeams, .longest = 6});
  EXPECT_EQ(search.run({5, 20}, {})[0].tokens, beams[0]);
}

TEST(BeamSearch, SaysWhichTokensRepeatAnNGram) {
  const std::vector<Token> bag = {1, 2, 3, 4};
  using Flags = std::vector<bool>;
  EXPECT_EQ(repeats({1, 2, 1}, {}, bag, 2), (Flags{false, true, false, false}));
  EXPECT_EQ(repeats({1, 2, 1}, {{4, 1, 3}}, bag, 2), (Flags{false, true, true, false}));
  EXPECT_EQ(repeats({1, 2, 1}, {}, bag, 1), (Flags{true, true, false, false}));
  EXPECT_EQ(repeats({1, 2, 3, 1, 2}, {}, bag, 3), (Flags{false, false, true, false}));
  EXPECT_EQ(repeats({1, 1}, {}, bag, 2), (Flags{true, false, false, false}));
  EXPECT_EQ(repeats({1}, {}, bag, 3), Flags(4, false));
  EXPECT_EQ(repeats({1, 2, 1}, {}, bag, 0), Flags(4, false));
}

TEST(BeamSearch, EndsWhereNothingMayFollow) {
  BeamSearch search(model(), {5}, {.beams = 2, .longest = 8});
  EXPECT_EQ(search.run({5}, {})[0].tokens, (Sentence{5, 5}));
}

TEST(BeamSearch, GroupsDifferAndTheFirstIsTheSearchWithoutGroups) {
  const auto m = model();
  const BeamOptions one{.beams = 3, .longest = 6};
  BeamOptions several = one;
  several.groups = 3;
  several.diversity = 5;
  const Sentence alone = BeamSearch(m, kBag, one).run({5, 20}, {})[0].tokens;
  const std::vector<Hypothesis> found = BeamSearch(m, kBag, several).run({5, 20}, {});
  ASSERT_EQ(found.size(), 3);
  EXPECT_TRUE(std::ranges::any_of(found, [&](const Hypothesis& h) { return h.tokens == alone; }));
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_GE(found[i - 1].log_probability, found[i].log_probability);
    EXPECT_NE(found[i - 1].tokens, found[i].tokens);
  }
}

TEST(BeamSearch, SameForAnyNumberOfThreads) {
  const auto m = model();
  std::vector<std::vector<Hypothesis>> found;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    found.push_back(BeamSearch(m, kBag, {.beams = 4, .groups = 2, .longest = 8}).run(kBag, {}));
  }
  set_threads(0);
  for (const auto& other : found) {
    ASSERT_EQ(other.size(), found[0].size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      EXPECT_EQ(other[i].tokens, found[0][i].tokens);
      EXPECT_EQ(other[i].log_probability, found[0][i].log_probability);
    }
  }
}

}  // namespace
}  // namespace undertext
