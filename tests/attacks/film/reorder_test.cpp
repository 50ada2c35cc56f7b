#include "attacks/film/reorder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "attacks/film/phrase_moves.h"
#include "base/threads.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

const Sentence kSentence = {3, 17, 8, 30, 8, 25, 1};
const std::vector<Token> kBag = {1, 3, 8, 12, 17, 25, 30};

std::shared_ptr<const Transformer> model() {
  return small_transformer(small_config(TransformerKind::gpt2));
}

// log p(next | prefix), from the logits of a whole pass.
double direct(const Transformer& model, const Sentence& prefix, Token next) {
  const at::Tensor logits =
      model.logits(std::vector<Example>{next_word_example(prefix)}).to(at::kDouble).log_softmax(1);
  return logits[std::ssize(prefix) - 1][next].item<double>();
}

double direct_loss(const Transformer& model, const Sentence& sentence) {
  return model.negative_log_likelihood(std::vector<Sentence>{sentence})[0];
}

double direct_score(const Transformer& model, const Sentence& sentence, double beta) {
  NamedTensors gradient;
  for (const auto& [name, tensor] : model.parameters()) gradient[name] = at::zeros_like(tensor);
  const auto words = static_cast<double>(sentence.size() - 1);
  const double loss = model.add_gradient(std::vector<Sentence>{sentence}, 1 / words, gradient);
  double squares = 0;
  for (const auto& [name, tensor] : gradient) squares += tensor.to(at::kDouble).square().sum().item<double>();
  return std::exp(loss / words) + beta * std::sqrt(squares);
}

std::vector<Sentence> candidates() {
  return {{3, 17, 8, 30, 8, 25, 1},
          {3, 17, 8, 8, 30, 25, 1},
          {3, 8, 17},
          {3, 17, 8, 30},
          {3, 17, 8, 30, 8, 25, 1, 12},
          {12, 17, 8},
          {3, 1},
          {3, 8, 17, 30, 25}};
}

TEST(Trunk, LinksAreLogProbabilities) {
  const auto m = model();
  Trunk trunk(m);
  trunk.read(kSentence);
  const Matrix<double> links = trunk.links();
  const std::int64_t n = std::ssize(kSentence);
  ASSERT_EQ(links.rows, n + 1);
  for (std::int64_t i = 1; i <= n; ++i) {
    EXPECT_EQ(links(i, n), 0);
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(links(i, j),
                  direct(*m, Sentence(kSentence.begin(), kSentence.begin() + i),
                         kSentence[static_cast<std::size_t>(j)]),
                  1e-5);
  }
}

TEST(Trunk, LossesAreThoseOfWholeSentences) {
  const auto m = model();
  Trunk trunk(m);
  trunk.read(kSentence);
  const std::vector<Sentence> all = candidates();
  for (int again = 0; again < 2; ++again) {  // nothing of the first time is left over
    const std::vector<double> losses = trunk.losses(all, std::vector<double>(all.size(), INFINITY));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(losses[i], direct_loss(*m, all[i]), 1e-4) << i;
  }
}

TEST(Trunk, LossesEndAtTheirLimits) {
  const auto m = model();
  Trunk trunk(m);
  trunk.read(kSentence);
  const std::vector<Sentence> all = candidates();
  std::vector<double> limits;
  for (std::size_t i = 0; i < all.size(); ++i)
    limits.push_back(direct_loss(*m, all[i]) + (i % 2 == 0 ? 0.01 : -0.01));
  const std::vector<double> losses = trunk.losses(all, limits);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::isinf(losses[i]), i % 2 == 1) << i;
}

TEST(PriorScore, IsEquation4) {
  const auto m = model();
  PriorScore score(m, {.beta = 0.3});
  score.follow(kSentence);
  const std::vector<Sentence> all = candidates();
  const std::vector<double> scores = score(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double want = direct_score(*m, all[i], 0.3);
    EXPECT_NEAR(scores[i], want, 1e-4 * want) << i;
  }
}

TEST(PriorScore, TheBestBelowABoundIsTheBestOfAll) {
  const auto m = model();
  for (const bool fast : {false, true}) {
    PriorScore score(m, {.beta = 2, .fast_norm = fast});
    score.follow(kSentence);
    const std::vector<Sentence> all = candidates();
    const std::vector<double> scores = score(all);
    const auto least = std::ranges::min_element(scores) - scores.begin();
    const double lowest = scores[static_cast<std::size_t>(least)];
    const auto found = score.best_below(all, lowest * 1.5);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->at, least);
    EXPECT_NEAR(found->score, lowest, 1e-4 * lowest);
    EXPECT_FALSE(score.best_below(all, lowest * 0.999));
  }
}

TEST(PhraseMoves, GainsAreWhatTheLinksSay) {
  Matrix<double> links(5, 5);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j) links(i, j) = static_cast<double>(10 * i + j);
  // a | b | c | d e: a c b d: c after a (1, 2), b after c (3, 1), d after b (2, 3) for (1,1) (2,2) (3,3).
  EXPECT_DOUBLE_EQ(link_gain(links, {1, 2, 3}, {0, 2, 1, 3}), (12 + 31 + 23) - (11 + 22 + 33));
  EXPECT_EQ(moved({7, 8, 9, 6}, {1, 2, 3}, {0, 2, 1, 3}), (Sentence{7, 9, 8, 6}));
  EXPECT_EQ(moved({7, 8, 9, 6}, {1, 2, 4}, {0, 2, 1, 3}), (Sentence{7, 9, 6, 8}));
}

TEST(PhraseMoves, TheBestCutsAreTheBestOfAll) {
  const auto m = model();
  Trunk trunk(m);
  const Sentence sentence = {3, 17, 8, 30, 8, 25, 1, 36, 4};
  trunk.read(sentence);
  const Matrix<double> links = trunk.links();
  const std::vector<std::size_t> order = {0, 3, 1, 2, 4};
  std::vector<PhraseCut> all;
  for (std::size_t a = 1; a <= 9; ++a)
    for (std::size_t b = a + 1; b <= 9; ++b)
      for (std::size_t c = b + 1; c <= 9; ++c)
        for (std::size_t d = c + 1; d <= 9; ++d)
          all.push_back({{a, b, c, d}, link_gain(links, {a, b, c, d}, order)});
  std::ranges::stable_sort(all, std::greater<>(), &PhraseCut::gain);
  const std::vector<PhraseCut> best = best_cuts(links, order, 9, 20);
  ASSERT_EQ(best.size(), 20);
  for (std::size_t i = 0; i < best.size(); ++i) EXPECT_NEAR(best[i].gain, all[i].gain, 1e-9);
  EXPECT_EQ(best[0].places, all[0].places);
  EXPECT_EQ(best_cuts(links, order, 9, 1000).size(), all.size());
}

TEST(PhraseMoves, KeepTheTokensAndTheFirstPlace) {
  const auto m = model();
  Trunk trunk(m);
  trunk.read(kSentence);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random{Seed(seed)};
    for (Sentence move : phrase_moves(kSentence, trunk.links(), 16, 8, random)) {
      EXPECT_EQ(move[0], kSentence[0]);
      EXPECT_TRUE(std::ranges::is_permutation(move, kSentence));
    }
  }
}

TEST(Reorder, NeverWorsensTheScoreNorMovesTheFirstToken) {
  const auto m = model();
  for (const bool swaps : {false, true})
    for (const FilmReorder what : {FilmReorder::phrases, FilmReorder::tokens, FilmReorder::both}) {
      PriorScore score(m, {});
      Sentence sentence = kSentence;
      const double before = direct_score(*m, sentence, 1);
      const double reached = reorder(sentence, score, kBag,
                                     {.what = what,
                                      .phrase_steps = 5,
                                      .token_steps = 5,
                                      .swaps_only = swaps,
                                      .longest = 8,
                                      .seed = Seed(4)});
      EXPECT_LT(reached, before);  // this sentence is far from the best
      EXPECT_NEAR(reached, direct_score(*m, sentence, 1), 1e-4 * reached);
      EXPECT_EQ(sentence[0], kSentence[0]);
      EXPECT_LE(sentence.size(), 8);
      const bool same_tokens = swaps || what == FilmReorder::phrases;
      EXPECT_TRUE(!same_tokens || std::ranges::is_permutation(sentence, kSentence));
    }
}

// Swaps of a short sentence are few: all of them are tried, and what no swap betters is left.
TEST(Reorder, EndsWhereNoSwapIsBetter) {
  const auto m = model();
  PriorScore score(m, {});
  Sentence sentence = kSentence;
  const double reached =
      reorder(sentence, score, kBag, {.what = FilmReorder::tokens, .token_steps = 60, .swaps_only = true});
  for (std::size_t i = 1; i < sentence.size(); ++i)
    for (std::size_t j = i + 1; j < sentence.size(); ++j) {
      Sentence swapped = sentence;
      std::swap(swapped[i], swapped[j]);
      EXPECT_GE(direct_score(*m, swapped, 1), reached * (1 - 1e-4));
    }
}

TEST(Reorder, CutsAfterTheFirstEndWhereThatHelps) {
  const auto m = model();
  const Sentence shorter(kSentence.begin(), kSentence.begin() + 4);
  const bool helps = direct_score(*m, shorter, 1) < direct_score(*m, kSentence, 1);
  PriorScore score(m, {});
  Sentence sentence = kSentence;
  cut_at_end(sentence, score, {30, 25}, false);
  EXPECT_EQ(sentence, helps ? shorter : kSentence);
  sentence = kSentence;
  cut_at_end(sentence, score, {30, 25}, true);
  EXPECT_EQ(sentence, shorter);
  sentence = kSentence;
  cut_at_end(sentence, score, {5}, true);
  EXPECT_EQ(sentence, kSentence);
}

TEST(Reorder, SameForAnyNumberOfThreads) {
  const auto m = model();
  std::vector<std::pair<Sentence, double>> found;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    PriorScore score(m, {});
    Sentence sentence = kSentence;
    const double reached =
        reorder(sentence, score, kBag, {.phrase_steps = 4, .token_steps = 4, .longest = 9});
    found.emplace_back(sentence, reached);
  }
  set_threads(0);
  for (const auto& other : found) EXPECT_EQ(other, found[0]);
}

}  // namespace
}  // namespace undertext
