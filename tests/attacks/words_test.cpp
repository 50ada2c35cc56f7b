#include "attacks/words.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "attacks/benjamini_hochberg.h"
#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "federated/local_training.h"
#include "metrics/word_scores.h"
#include "models/cifg_lstm.h"
#include "models/load_model.h"
#include "text/corpus.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');

// Algorithm 3's noise, so that these tests need no other room.
class StepNoise : public ClientDefence {
 public:
  explicit StepNoise(float sigma) : sigma_(sigma) {}
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override {
    for (auto& [name, tensor] : gradient)
      add_normal_noise(Seed(5).derive(name).derive(static_cast<std::uint64_t>(step)), sigma_,
                       tensor.data_ptr<float>(), tensor.numel());
  }

 private:
  float sigma_;
};

// Its hidden vectors are about as long as those of a trained model.
std::shared_ptr<CifgLstm> random_model(std::int64_t vocabulary, bool tied = false) {
  std::shared_ptr<CifgLstm> model =
      CifgLstm::random({.vocabulary = vocabulary, .embedding = 8, .units = 12, .tied = tied}, Seed(3));
  model->parameters().at("proj.weight").mul_(20);
  return model;
}

// An update that changes nothing but the output bias, by minus the scores.
Observation observed_scores(const std::vector<float>& scores, Protocol protocol = {}) {
  const auto model = random_model(static_cast<std::int64_t>(scores.size()));
  model->parameters().at("decoder.bias").zero_();
  Update update;
  update.protocol = protocol;
  update.protocol.base_hash = kHash;
  const at::Tensor moved = torch::tensor(scores);
  update.tensors["decoder.bias"] = protocol.kind == UpdateKind::weights ? -moved : moved;
  return observe(model, kHash, update);
}

Observation observed_training(const std::shared_ptr<CifgLstm>& model, std::span<const Sentence> texts,
                              const LocalTraining& training, float noise = 0) {
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (noise > 0) defences.push_back(std::make_shared<StepNoise>(noise));
  return observe(model, kHash, train_locally(*model, texts, training, kHash, defences));
}

std::set<Token> id_set(const WordRecovery& recovery) {
  const Sentence list = ids_of(recovery);
  return {list.begin(), list.end()};
}

double f1(std::span<const Sentence> texts, const WordRecovery& recovery) {
  std::vector<Token> truth;
  for (const Sentence& text : texts) truth.insert(truth.end(), text.begin(), text.end());
  return score_words(truth, ids_of(recovery)).f1;
}

// The best F1 that any cutoff on the bias can have, chosen with the truth.
double oracle_f1(std::span<const Sentence> texts, const Observation& observation) {
  std::set<Token> truth;
  for (const Sentence& text : texts) truth.insert(text.begin(), text.end());
  const std::vector<double> scores = output_bias_scores(observation);
  std::vector<Token> order(scores.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Token>(k);
  std::sort(order.begin(), order.end(), [&](Token a, Token b) { return scores[a] < scores[b]; });
  double best = 0, hits = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    hits += truth.contains(order[i]);
    best = std::max(best, 2 * hits / static_cast<double>(i + 1 + truth.size()));
  }
  return best;
}

TEST(BenjaminiHochberg, TheExampleOfThe1995Paper) {
  const std::vector<double> p = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                 .0459, .3240, .4262, .5719, .6528, .7590, 1.0};
  EXPECT_DOUBLE_EQ(benjamini_hochberg(p, .05), .0095);  // p_(4) <= .05 * 4/15 and none after it
}

TEST(BenjaminiHochberg, StepsUpFromTheLargest) {
  EXPECT_DOUBLE_EQ(benjamini_hochberg({.05, .03, .035}, .05), .05);  // the last one pulls all in
  EXPECT_DOUBLE_EQ(benjamini_hochberg({.02, .9}, .05), .02);
  EXPECT_DOUBLE_EQ(benjamini_hochberg({.06, .9}, .05), -1);
  EXPECT_DOUBLE_EQ(benjamini_hochberg({}, .05), -1);
}

TEST(NormalCdf, IsExactInTheTail) {
  EXPECT_NEAR(normal_cdf(-1.959964), .025, 1e-8);
  EXPECT_NEAR(normal_cdf(-10) / 7.619853e-24, 1, 1e-6);
}

TEST(WordsBySign, OrdersByScoreAndKeepsZeroOut) {
  const WordRecovery found =
      recover_words_by_sign(observed_scores({.001f, 0, -.001f, -.0031f, .1f, -.001f, -1e-9f}));
  EXPECT_EQ(ids_of(found), (std::vector<Token>{3, 2, 5, 6}));
  EXPECT_FLOAT_EQ(static_cast<float>(found.words[0].score), -.0031f);
  EXPECT_EQ(found.words[0].count, 3);  // at a learning rate of .001
  EXPECT_EQ(found.words[3].count, 1);
}

TEST(WordsBySign, ReadsGradientsInUnitsOfTheLearningRate) {
  Protocol protocol;
  protocol.kind = UpdateKind::gradient;
  protocol.learning_rate = .01;
  const WordRecovery found = recover_words_by_sign(observed_scores({.5f, -2, .1f, -1, 0}, protocol));
  ASSERT_EQ(ids_of(found), (std::vector<Token>{1, 3}));
  EXPECT_DOUBLE_EQ(found.words[0].score, -.02);
  EXPECT_EQ(found.words[0].count, 2);
}

TEST(WordsBySign, FindsExactlyWhatATinyClientTyped) {
  const auto model = random_model(50);
  const std::vector<Sentence> texts = {{5, 6, 7}, {5, 8}, {49}};
  const WordRecovery found = recover_words_by_sign(observed_training(model, texts, {}));
  EXPECT_EQ(id_set(found), (std::set<Token>{5, 6, 7, 8, 49}));
  EXPECT_EQ(found.words[0].id, 5);
  EXPECT_EQ(found.words[0].count, 2);
}

TEST(WordsBySign, AnUpdateWithoutTheBiasIsAUsersMistake) {
  Observation observation = observed_scores({1, -1, 1});
  observation.update.tensors.clear();
  EXPECT_THROW(recover_words_by_sign(observation), UserError);
  EXPECT_THROW(recover_words_by_cutoff(observation), UserError);
  EXPECT_THROW(recover_words_by_rows(observation), UserError);
}

TEST(WordsByCutoff, FindsTypedWordsInNormalNoise) {
  std::vector<float> scores(5000, 2e-5f);
  add_normal_noise(Seed(1), 1e-4f, scores.data(), 5000);
  std::set<Token> typed;
  for (Token k = 0; k < 200; ++k) {
    scores[k * 25] -= .001f;  // ten standard deviations
    typed.insert(k * 25);
  }
  const WordRecovery found = recover_words_by_cutoff(observed_scores(scores));
  std::int64_t hits = 0;
  for (const Token k : ids_of(found)) hits += typed.contains(k);
  EXPECT_EQ(hits, 200);
  EXPECT_LE(found.words.size(), 220u);  // 5% false discoveries, and chance
  EXPECT_GT(recover_words_by_sign(observed_scores(scores)).words.size(), 2000u);
}

// Untyped words move by their probabilities, which differ by powers of ten. Noise that is small beside most
// of them still turns the least ones negative, and the rows that do not move by themselves show how large it
// is.
TEST(WordsByCutoff, TakesOffNoiseTooSmallToSpreadTheCrowd) {
  constexpr int kWords = 5000, kTyped = 40;
  constexpr float kNoise = 2e-7f;
  std::vector<float> scores(kWords);
  Random random{Seed(4)};
  for (float& score : scores) score = static_cast<float>(1e-7 * std::pow(1e4, random.uniform()));
  for (int k = 0; k < kTyped; ++k) scores[static_cast<std::size_t>(100 * k)] = -1e-3f;
  add_normal_noise(Seed(1), kNoise, scores.data(), kWords);
  const auto model = random_model(kWords);
  model->parameters().at("decoder.bias").zero_();
  model->parameters().at("decoder.weight").zero_();
  Update update;
  update.protocol.base_hash = kHash;
  update.tensors["decoder.bias"] = -torch::tensor(scores);
  update.tensors["decoder.weight"] = torch::zeros({kWords, 8});
  add_normal_noise(Seed(2), kNoise, update.tensors["decoder.weight"].data_ptr<float>(), kWords * 8);
  const Observation observation = observe(model, kHash, update);

  EXPECT_GT(recover_words_by_sign(observation).words.size(), 100u);
  const std::set<Token> found = id_set(recover_words_by_cutoff(observation));
  EXPECT_LE(found.size(), kTyped + 4u);
  for (int k = 0; k < kTyped; ++k) EXPECT_TRUE(found.contains(100 * k)) << k;
}

TEST(WordsByCutoff, NoiseAloneGivesNothing) {
  std::vector<float> scores(5000, 0.0f);
  add_normal_noise(Seed(2), 1e-4f, scores.data(), 5000);
  EXPECT_LE(recover_words_by_cutoff(observed_scores(scores)).words.size(), 2u);
}

TEST(WordsByCutoff, WithoutNoiseItIsTheSignTest) {
  std::vector<float> scores(3000);
  Random random(Seed(4));
  for (float& score : scores)  // the masses of untyped words span decades
    score = static_cast<float>(1e-5 * std::exp(2 * random.normal()));
  for (Token k = 0; k < 40; ++k) scores[k * 7] = -1e-3f;
  scores[1] = -1e-7f;  // typed, and nearly as probable as it was typed
  const Observation observation = observed_scores(scores);
  EXPECT_EQ(ids_of(recover_words_by_cutoff(observation)), ids_of(recover_words_by_sign(observation)));
  EXPECT_EQ(recover_words_by_cutoff(observed_scores(std::vector<float>(100, 0.0f))).words.size(), 0u);
}

// Words 10 and 11 are a sixth of all predictions each. 10 is typed five times, far less than that; 11 never.
struct FrequentWord {
  std::shared_ptr<CifgLstm> model = random_model(1000);
  std::vector<Sentence> texts;
  FrequentWord() {
    model->parameters().at("decoder.bias")[10] = 5.5f;
    model->parameters().at("decoder.bias")[11] = 5.5f;
    Random random(Seed(9));
    for (int i = 0; i < 60; ++i) {
      Sentence text;
      for (int j = 0; j < 3; ++j) text.push_back(static_cast<Token>(20 + random.below(900)));
      if (i % 12 == 0) text[1] = 10;
      texts.push_back(text);
    }
  }
};

TEST(WordsByRows, FindFrequentWordsThatTheSignMisses) {
  const FrequentWord client;
  const Observation observation = observed_training(client.model, client.texts, {});
  EXPECT_FALSE(id_set(recover_words_by_sign(observation)).contains(10));
  const WordRecovery found = recover_words_by_rows(observation);
  EXPECT_EQ(f1(client.texts, found), 1);
  std::map<Token, double> typed;
  for (const Sentence& text : client.texts)
    for (const Token k : text) typed[k] += 1;
  for (const RecoveredWord& word : found.words) EXPECT_EQ(word.count, typed[word.id]) << word.id;
}

TEST(WordsByRows, MeanReductionAndSeveralEpochsOnlyChangeTheUnit) {
  const FrequentWord client;
  const LocalTraining training = {
      .epochs = 3, .batch = 16, .learning_rate = .1, .reduction = Reduction::mean};
  const Observation observation = observed_training(client.model, client.texts, training);
  EXPECT_EQ(f1(client.texts, recover_words_by_rows(observation)), 1);
}

TEST(WordsByRows, UnderNoiseTheyBeatTheBestCutoffOnTheBias) {
  const FrequentWord client;
  const Observation observation = observed_training(client.model, client.texts, {}, .35f);
  const double oracle = oracle_f1(client.texts, observation);
  EXPECT_LT(oracle, .9);
  EXPECT_GT(f1(client.texts, recover_words_by_rows(observation)), oracle);
}

TEST(WordsByRows, ATrainedEmbeddingShowsTheWordsThatWereRead) {
  const FrequentWord client;
  const Observation observation =
      observed_training(client.model, client.texts, {.train_embedding = true}, .002f);
  const WordRecovery found = recover_words_by_rows(observation);
  EXPECT_NE(found.rule.find("embedding"), std::string::npos);
  EXPECT_FALSE(id_set(found).contains(client.model->start_token()));
  EXPECT_GT(f1(client.texts, found), .95);
  EXPECT_EQ(f1(client.texts, recover_words_by_rows(
                                 observed_training(client.model, client.texts, {.train_embedding = true}))),
            1);
}

TEST(WordsByRows, ATiedModelWorksFrozenAndTrained) {
  const auto model = random_model(300, true);
  const std::vector<Sentence> texts = {{5, 6, 7}, {5, 8}, {49}};
  for (const bool train : {false, true}) {
    const Observation observation = observed_training(model, texts, {.train_embedding = train});
    EXPECT_EQ(f1(texts, recover_words_by_rows(observation)), 1) << train;
  }
}

TEST(WordsByRows, AreTheSameForAnyNumberOfThreads) {
  const FrequentWord client;
  const Observation observation = observed_training(client.model, client.texts, {}, .2f);
  set_threads(1);
  const WordRecovery one = recover_words_by_rows(observation);
  set_threads(3);
  const WordRecovery three = recover_words_by_rows(observation);
  set_threads(0);
  ASSERT_EQ(ids_of(one), ids_of(three));
  for (std::size_t i = 0; i < one.words.size(); ++i) EXPECT_EQ(one.words[i].count, three.words[i].count);
}

TEST(WordsByRows, AnUpdateThatChangesNothingGivesNothing) {
  const auto model = random_model(50);
  const std::vector<Sentence> texts = {{5, 6}};
  Observation observation = observed_training(model, texts, {});
  for (auto& [name, tensor] : observation.update.tensors) tensor = model->parameters().at(name).clone();
  observation = observe(model, kHash, observation.update);
  EXPECT_TRUE(recover_words_by_rows(observation).words.empty());
  EXPECT_TRUE(recover_words_by_sign(observation).words.empty());
}

class KeyboardWords : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kShared / "data/gboard/config.json"))
      GTEST_SKIP() << "needs the keyboard model in ../shared/data/gboard";
    if (!folder_) folder_ = std::make_unique<ModelFolder>(load_model_folder(kShared / "data/gboard"));
  }
  static void TearDownTestSuite() { folder_.reset(); }

  Observation trained(std::span<const Sentence> texts, const LocalTraining& training, float noise = 0) const {
    std::vector<std::shared_ptr<const ClientDefence>> defences;
    if (noise > 0) defences.push_back(std::make_shared<StepNoise>(noise));
    return observe(folder_->model, folder_->hash,
                   train_locally(*folder_->model, texts, training, folder_->hash, defences));
  }

  inline static const std::filesystem::path kShared = UNDERTEXT_SHARED;
  inline static std::unique_ptr<ModelFolder> folder_;
};

// Table 1; the printed value of "private" repeats that of "learning", this is the one that comes out.
TEST_F(KeyboardWords, Table1) {
  const Tokenizer& tokenizer = *folder_->tokenizer;
  const std::vector<Sentence> texts = {tokenizer.encode("learning online is not so private")};
  const WordRecovery found = recover_words_by_sign(trained(texts, {.batch = 1, .zero_output_bias = true}));
  const std::vector<std::pair<std::string, double>> table = {
      {"is", -0.0009978750},       {"private", -0.0009969121}, {"so", -0.0009965639},
      {"learning", -0.0009951561}, {"online", -0.0009941629},  {"not", -0.0009941144}};
  ASSERT_EQ(found.words.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(tokenizer.token(found.words[i].id), table[i].first);
    EXPECT_NEAR(found.words[i].score, table[i].second, 1e-8);
    EXPECT_EQ(found.words[i].count, 1);
  }
}

TEST_F(KeyboardWords, RowsBeatTheSignAndUnderNoiseTheOracle) {
  const std::filesystem::path file = kShared / "data/messages/64_0.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs ../shared/data/messages";
  const std::vector<Sentence> texts = read_sentences(file, *folder_->tokenizer);
  const Observation quiet = trained(texts, {});
  EXPECT_GT(f1(texts, recover_words_by_rows(quiet)), .99);
  EXPECT_LT(f1(texts, recover_words_by_sign(quiet)), .97);
  EXPECT_EQ(ids_of(recover_words_by_cutoff(quiet)), ids_of(recover_words_by_sign(quiet)));
  const Observation noisy = trained(texts, {.batch = 32}, .1f);
  EXPECT_LT(f1(texts, recover_words_by_sign(noisy)), .2);
  EXPECT_GT(f1(texts, recover_words_by_rows(noisy)), oracle_f1(texts, noisy));
}

}  // namespace
}  // namespace undertext
