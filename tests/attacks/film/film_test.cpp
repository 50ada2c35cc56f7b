#include "attacks/film/film.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"
#include "base/error.h"
#include "base/threads.h"
#include "defences/clipping.h"
#include "federated/local_training.h"
#include "models/transformer/layer_views.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

std::shared_ptr<Transformer> small_gpt2() {
  return Transformer::random(
      small_config(
          TransformerKind::gpt2,
          {.vocabulary = 150, .width = 48, .heads = 4, .inner = 192, .positions = 16, .deviation = 0.1}),
      Seed(3));
}

const std::vector<Sentence> kTexts = {
    {17, 101, 5, 88, 42, 63, 9}, {4, 77, 130, 21, 5, 90}, {55, 12, 99, 101, 3}};

Observation observed(const std::shared_ptr<Transformer>& model, Reduction reduction = Reduction::mean,
                     const std::vector<std::shared_ptr<const ClientDefence>>& defences = {}) {
  const LocalTraining training{.reduction = reduction, .train_embedding = true, .kind = UpdateKind::gradient};
  return observe(model, "", train_locally(*model, kTexts, training, "", defences));
}

std::vector<Sentence> sorted_ids(const FilmRecovery& recovery) {
  std::vector<Sentence> result;
  for (const FilmSentence& sentence : recovery.sentences) result.push_back(sentence.ids);
  std::ranges::sort(result);
  return result;
}

std::vector<Sentence> sorted_truth() {
  std::vector<Sentence> result = kTexts;
  std::ranges::sort(result);
  return result;
}

// Clipping takes one number from the gradient, which the protocol says: the texts come out, and are certain.
TEST(Film, ReadsThroughClipping) {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const FilmRecovery found =
        film(observed(small_gpt2(), reduction, {std::make_shared<Clipping>(1e-3)}), {});
    EXPECT_EQ(sorted_ids(found), sorted_truth());
    EXPECT_TRUE(found.certified);
  }
}

TEST(Film, TheLastBlocksGradientIsTheSumOfItsSteps) {
  const auto model = small_gpt2();
  const Tail tail(model);
  TransformerReader reader(model, true);
  const Sentence& text = kTexts[0];
  std::vector<StateId> states;
  std::vector<std::int32_t> rows;
  std::vector<Token> next;
  StateId at = -1;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    at = reader.extend(std::vector<StateId>{at}, std::vector<Token>{text[i]});
    states.push_back(at);
    rows.push_back(static_cast<std::int32_t>(i));
    next.push_back(text[i + 1]);
  }
  const TailContexts contexts = tail.contexts(reader, states);
  TailGradient sum{Matrix<double>(193, 48), Matrix<double>(49, 192), Matrix<double>(49, 48)};
  add_steps(contexts, rows, tail.steps(contexts, rows, next), std::vector<double>(rows.size(), 1.0), sum);

  NamedTensors gradient;
  for (const auto& [name, tensor] : model->parameters()) gradient[name] = at::zeros_like(tensor);
  model->add_gradient(std::vector<Sentence>{text}, 1, gradient);
  const LayerViews views = layer_views(*model, gradient, 1);
  const std::array<LayerViews::Affine, kDyads> parts = {views.outer, views.inner, views.attention};
  for (std::size_t which = 0; which < kDyads; ++which) {
    const at::Tensor want = at::cat({parts[which].weight.t(), parts[which].bias.unsqueeze(0)}).contiguous();
    ASSERT_EQ(want.numel(), std::ssize(sum[which].data));
    const double size = want.norm().item<double>();
    double off = 0;
    for (std::size_t i = 0; i < sum[which].data.size(); ++i)
      off += std::pow(sum[which].data[i] - want.data_ptr<float>()[i], 2);
    EXPECT_LT(std::sqrt(off), 1e-5 * size) << which;
  }
}

TEST(Film, ReadsABatchExactlyAndProvesIt) {
  const FilmRecovery found = film(observed(small_gpt2()), {});
  EXPECT_EQ(sorted_ids(found), sorted_truth());
  EXPECT_TRUE(found.certified);
  EXPECT_LT(found.residual, 1e-4);
  EXPECT_EQ(found.bag_from, "evidence");
  EXPECT_EQ(found.longest, 7);
}

TEST(Film, ReadsASumAsWell) {
  EXPECT_EQ(sorted_ids(film(observed(small_gpt2(), Reduction::sum), {})), sorted_truth());
}

TEST(Film, ReadsWithoutTheEmbedding) {
  const auto model = small_gpt2();
  Observation observation = observed(model);
  observation.update.tensors.erase(model->names().token_embedding);
  const FilmRecovery found = film(observation, {});
  EXPECT_EQ(sorted_ids(found), sorted_truth());
  EXPECT_TRUE(found.certified);
}

TEST(Film, CertifiesNothingThatTheGradientDoesNotBearOut) {
  const auto model = small_gpt2();
  Observation observation = observed(model);
  for (auto& [name, tensor] : observation.update.tensors) {
    tensor = tensor.clone();
    add_normal_noise(Seed(9).derive(name), 0.05f, tensor.data_ptr<float>(), tensor.numel());
  }
  const FilmRecovery found = film(observation, {});
  EXPECT_FALSE(found.certified);
  for (const FilmSentence& sentence : found.sentences) EXPECT_FALSE(sentence.certified);
}

TEST(Film, SameBytesForAnyNumberOfThreads) {
  const Observation observation = observed(small_gpt2());
  set_threads(1);
  const FilmRecovery one = film(observation, {});
  set_threads(2);
  const FilmRecovery two = film(observation, {});
  set_threads(0);
  ASSERT_EQ(one.sentences.size(), two.sentences.size());
  for (std::size_t i = 0; i < one.sentences.size(); ++i) {
    EXPECT_EQ(one.sentences[i].ids, two.sentences[i].ids);
    EXPECT_EQ(one.sentences[i].score, two.sentences[i].score);
  }
}

TEST(Film, ThePapersSearchUsesTheBagAlone) {
  const std::vector<Token> bag = {3, 5, 9, 12, 17, 42};
  const FilmRecovery found = film(observed(small_gpt2()), {.method = FilmMethod::paper,
                                                           .bag = FilmBag::oracle,
                                                           .oracle_bag = bag,
                                                           .beam = 4,
                                                           .sentences = 2,
                                                           .phrase_steps = 3,
                                                           .token_steps = 3});
  ASSERT_EQ(found.sentences.size(), 2);
  EXPECT_EQ(found.bag_from, "oracle");
  for (const FilmSentence& sentence : found.sentences)
    for (const Token token : sentence.ids) EXPECT_NE(std::ranges::find(bag, token), bag.end());
}

TEST(Film, AGivenBagGuidesTheBestSearchToo) {
  const auto model = small_gpt2();
  const auto with = [&](const std::vector<Token>& bag) {
    return film(observed(model), {.bag = FilmBag::oracle, .oracle_bag = bag});
  };
  std::set<Token> all;
  for (const Sentence& text : kTexts) all.insert(text.begin(), text.end());
  const FilmRecovery found = with({all.begin(), all.end()});
  EXPECT_EQ(sorted_ids(found), sorted_truth());
  EXPECT_TRUE(found.certified);
  EXPECT_EQ(found.bag_from, "oracle");
  all.erase(130);  // what the bag lacks is in no sentence, whatever the gradient says
  for (const FilmSentence& sentence : with({all.begin(), all.end()}).sentences)
    for (const Token token : sentence.ids) EXPECT_TRUE(all.contains(token)) << token;
}

TEST(Film, SearchesAsThePaperWhereTheGradientBearsOutNothing) {
  const auto model = small_gpt2();
  Observation observation = observed(model);
  for (auto& [name, tensor] : observation.update.tensors)  // the embedding alone says something
    if (name != model->names().token_embedding) {
      tensor = tensor.clone();
      add_normal_noise(Seed(9).derive(name), 100.0f, tensor.data_ptr<float>(), tensor.numel());
    }
  const FilmRecovery found = film(observation, {.bag = FilmBag::oracle, .oracle_bag = {3, 5, 9, 12, 17, 42}});
  const FilmRecovery paper = film(observation, {.method = FilmMethod::paper,
                                                .bag = FilmBag::oracle,
                                                .oracle_bag = {3, 5, 9, 12, 17, 42},
                                                .reorder = FilmReorder::none});
  EXPECT_EQ(sorted_ids(found), sorted_ids(paper));
  ASSERT_EQ(found.sentences.size(), 1);
  EXPECT_EQ(found.sentences[0].confidence, 0);
  EXPECT_FALSE(found.certified);
}

TEST(Film, RefusesWhatItCannotRead) {
  Observation observation = observed(small_gpt2());
  observation.update.protocol.epochs = 2;
  EXPECT_THROW(film(observation, {}), UserError);
}

}  // namespace
}  // namespace undertext
