#include "attacks/greedy_sentences.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <limits>

#include "attacks/model_between.h"
#include "attacks/words.h"
#include "base/error.h"
#include "base/threads.h"
#include "federated/local_training.h"
#include "metrics/sentence_scores.h"
#include "models/load_model.h"
#include "text/corpus.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');
const std::vector<Sentence> kTexts = {{5, 6, 7, 8}, {9, 10, 11, 6}, {12, 7, 13, 14}, {15, 16, 5, 9}};
const std::vector<Token> kWords = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

std::shared_ptr<CifgLstm> random_model() {
  return CifgLstm::random({.vocabulary = 40, .embedding = 16, .units = 24}, Seed(2));
}

Observation observed(const LocalTraining& training) {
  const auto model = random_model();
  return observe(model, kHash, train_locally(*model, kTexts, training, kHash));
}

// Trained until it knows the sentences by heart.
Observation overfitted() {
  return observed({.epochs = 300, .learning_rate = .05});
}

TEST(ModelBetween, IsOnTheLineThroughBoth) {
  const Observation observation = observed({.learning_rate = .1});
  for (const double t : {0.0, 0.25, 1.0, 31.0}) {
    const auto model = model_between(observation, t);
    for (const auto& [name, tensor] : model->parameters()) {
      const at::Tensor before = observation.before->parameters().at(name);
      const at::Tensor wanted = before + t * (observation.after->parameters().at(name) - before);
      EXPECT_LT((tensor - wanted).abs().max().item<double>(), 1e-5) << name << " at " << t;
    }
  }
  model_between(observation, 0)->parameters().at("decoder.bias").fill_(7);
  EXPECT_NE(observation.before->parameters().at("decoder.bias")[0].item<float>(), 7);
}

TEST(GreedySentences, ReadsAnOverfittedModelOut) {
  const SentenceRecovery found = recover_greedy_sentences(overfitted(), kWords, {});
  EXPECT_EQ(found.scale, 0);
  ASSERT_EQ(found.sentences.size(), 4u);  // the update's facts say so
  EXPECT_EQ(score_sentences(kTexts, sentences_of(found)).exact, 1);
  for (std::size_t i = 1; i < found.sentences.size(); ++i)
    EXPECT_GE(found.sentences[i - 1].score, found.sentences[i].score);
}

TEST(GreedySentences, ScoreIsTheRelativeChangeInLogPerplexity) {
  const Observation observation = overfitted();
  const SentenceRecovery found = recover_greedy_sentences(observation, kWords, {.count = 12, .scale = 0.5});
  EXPECT_EQ(found.scale, 0.5);
  ASSERT_EQ(found.sentences.size(), 12u);  // one per first word
  const std::vector<Sentence> sentences = sentences_of(found);
  const std::vector<double> before = observation.before->negative_log_likelihood(sentences);
  const std::vector<double> after = model_between(observation, 1.5)->negative_log_likelihood(sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    EXPECT_NEAR(found.sentences[i].score, (before[i] - after[i]) / before[i], 1e-9);
}

TEST(GreedySentences, EachWordIsTheLikeliestOfTheWordsGiven) {
  const Observation observation = overfitted();
  const std::vector<Token> some = {5, 7, 9, 12, 30};
  for (const RecoveredSentence& sentence :
       recover_greedy_sentences(observation, some, {.length = 3, .count = 5, .scale = {}}).sentences) {
    ASSERT_EQ(sentence.words.size(), 3u);
    for (std::size_t at = 1; at < 3; ++at) {
      std::vector<Sentence> options;
      for (const Token word : some) {
        options.emplace_back(sentence.words.begin(),
                             sentence.words.begin() + static_cast<std::ptrdiff_t>(at));
        options.back().push_back(word);
      }
      const std::vector<double> loss = observation.after->negative_log_likelihood(options);
      const std::size_t best =
          static_cast<std::size_t>(std::min_element(loss.begin(), loss.end()) - loss.begin());
      EXPECT_EQ(sentence.words[at], some[best]);
    }
  }
}

TEST(GreedySentences, CountIsEstimatedWhenNobodyTells) {
  Observation observation = observed({});
  observation.update.protocol.count = 0;
  const SentenceRecovery found = recover_greedy_sentences(observation, kWords, {.scale = 0});
  EXPECT_EQ(found.sentences.size(), 4u);  // 16 words typed, 4 a sentence
  EXPECT_EQ(recover_greedy_sentences(observation, kWords, {.count = 3, .scale = 0}).sentences.size(), 3u);
}

TEST(GreedySentences, BadOptionsAndEmptyBags) {
  const Observation observation = observed({});
  EXPECT_TRUE(recover_greedy_sentences(observation, {}, {}).sentences.empty());
  EXPECT_THROW(recover_greedy_sentences(observation, kWords, {.length = 0, .scale = {}}), UserError);
  EXPECT_THROW(
      recover_greedy_sentences(observation, kWords, {.scale = std::numeric_limits<double>::quiet_NaN()}),
      UserError);
  EXPECT_EQ(recover_greedy_sentences(observation, kWords, {.scale = 1e38}).sentences.size(), 4u);
  const std::vector<Token> twice = {5, 5, 6, 6};
  EXPECT_EQ(recover_greedy_sentences(observation, twice, {.scale = 0}).sentences.size(), 2u);
}

TEST(GreedySentences, AreTheSameForAnyNumberOfThreads) {
  const Observation observation = observed({});
  set_threads(1);
  const SentenceRecovery one = recover_greedy_sentences(observation, kWords, {});
  set_threads(3);
  const SentenceRecovery three = recover_greedy_sentences(observation, kWords, {});
  set_threads(0);
  EXPECT_EQ(one.scale, three.scale);
  ASSERT_EQ(sentences_of(one), sentences_of(three));
  for (std::size_t i = 0; i < one.sentences.size(); ++i)
    EXPECT_EQ(one.sentences[i].score, three.sentences[i].score);
}

TEST(GreedySentences, ScalingHelpsOneStepOnTheKeyboardModel) {
  const std::filesystem::path shared = UNDERTEXT_SHARED;
  if (!std::filesystem::exists(shared / "data/gboard/config.json") ||
      !std::filesystem::exists(shared / "data/messages/16_4.txt"))
    GTEST_SKIP() << "needs the keyboard model and the messages in ../shared/data";
  const ModelFolder folder = load_model_folder(shared / "data/gboard");
  const std::vector<Sentence> texts = read_sentences(shared / "data/messages/16_4.txt", *folder.tokenizer);
  const Observation observation =
      observe(folder.model, folder.hash,
              train_locally(*folder.model, texts, {.zero_output_bias = true}, folder.hash));
  std::vector<Token> words;
  for (const RecoveredWord& word : recover_words_by_sign(observation).words) words.push_back(word.id);
  const SentenceRecovery plain = recover_greedy_sentences(observation, words, {.scale = 0});
  const SentenceRecovery scaled = recover_greedy_sentences(observation, words, {});
  EXPECT_GE(scaled.scale, 20);
  EXPECT_LE(scaled.scale, 150);
  EXPECT_GT(score_sentences(texts, sentences_of(scaled)).levenshtein,
            score_sentences(texts, sentences_of(plain)).levenshtein + 15);
}

}  // namespace
}  // namespace undertext
