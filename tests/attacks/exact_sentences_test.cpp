#include "attacks/exact_sentences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "attacks/certificate.h"
#include "attacks/words.h"
#include "base/threads.h"
#include "defences/noise.h"
#include "federated/local_training.h"
#include "models/cifg_lstm.h"
#include "models/load_model.h"
#include "tensors/named_tensors.h"
#include "text/corpus.h"

namespace undertext {
namespace {

class KeyboardModel : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path(UNDERTEXT_SHARED) / "data" / "gboard";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the keyboard's model is not at " << folder;
    folder_ = std::make_unique<ModelFolder>(load_model_folder(folder));
    for (const char* text : kTexts) sentences_.push_back(folder_->tokenizer->encode(text));
  }

  Observation observe_client(const LocalTraining& training) const {
    return observe(folder_->model, folder_->hash,
                   train_locally(*folder_->model, sentences_, training, folder_->hash));
  }

  std::vector<Sentence> recovered(const SentenceRecovery& recovery) const {
    std::vector<Sentence> words = sentences_of(recovery);
    std::sort(words.begin(), words.end());
    return words;
  }

  std::vector<Sentence> truth() const {
    std::vector<Sentence> words = sentences_;
    std::sort(words.begin(), words.end());
    return words;
  }

  // Lengths from one to nine words, a sentence typed twice, one that begins like another.
  static constexpr const char* kTexts[] = {"yes",
                                           "see you at the station",
                                           "see you at the station",
                                           "see you at home",
                                           "my doctor called about the test results this morning",
                                           "can you pick up some milk",
                                           "the meeting moved to friday",
                                           "how are you doing today",
                                           "no thanks",
                                           "please do not tell anyone about the money"};
  std::unique_ptr<ModelFolder> folder_;
  std::vector<Sentence> sentences_;
};

TEST_F(KeyboardModel, FedSgdMixedLengthsAreRecoveredAndCertified) {
  const Observation observation = observe_client({});
  const SentenceRecovery recovery = recover_exact_sentences(observation, {});
  EXPECT_EQ(recovered(recovery), truth());
  EXPECT_TRUE(recovery.certified);
  EXPECT_LT(recovery.residual, 3e-4);

  const WordRecovery words = recover_words(observation);
  std::vector<Token> found, typed;
  for (const RecoveredWord& word : words.words) found.push_back(word.id);
  for (const Sentence& sentence : sentences_) typed.insert(typed.end(), sentence.begin(), sentence.end());
  std::sort(found.begin(), found.end());
  std::sort(typed.begin(), typed.end());
  typed.erase(std::unique(typed.begin(), typed.end()), typed.end());
  EXPECT_EQ(found, typed);
}

TEST_F(KeyboardModel, MeanReductionIsRecoveredAndCertified) {
  LocalTraining training;
  training.reduction = Reduction::mean;
  const SentenceRecovery recovery = recover_exact_sentences(observe_client(training), {});
  EXPECT_EQ(recovered(recovery), truth());
  EXPECT_TRUE(recovery.certified);
}

TEST_F(KeyboardModel, TrainedEmbeddingIsRecoveredAndCertified) {
  LocalTraining training;
  training.train_embedding = true;
  const SentenceRecovery recovery = recover_exact_sentences(observe_client(training), {});
  EXPECT_EQ(recovered(recovery), truth());
  EXPECT_TRUE(recovery.certified);
}

TEST_F(KeyboardModel, CertificateHoldsForTheTruthAlone) {
  for (const Reduction reduction : {Reduction::sum, Reduction::mean}) {
    LocalTraining training;
    training.reduction = reduction;
    const Observation observation = observe_client(training);
    EXPECT_TRUE(explains_update(observation, sentences_));
    std::vector<Sentence> shuffled(sentences_.rbegin(), sentences_.rend());
    EXPECT_TRUE(explains_update(observation, shuffled));
    std::vector<Sentence> missing(sentences_.begin() + 1, sentences_.end());
    EXPECT_FALSE(explains_update(observation, missing));
    std::vector<Sentence> swapped = sentences_;
    std::swap(swapped[1].back(), swapped[5].back());
    EXPECT_FALSE(explains_update(observation, swapped));
    EXPECT_FALSE(explains_update(observation, {}));
  }
}

TEST_F(KeyboardModel, ManyEpochsAreRecovered) {
  sentences_.erase(sentences_.begin() + 2);  // four-word and longer ones of one length
  std::vector<Sentence> even;
  for (Sentence& sentence : sentences_)
    if (sentence.size() >= 4) {
      sentence.resize(4);
      even.push_back(sentence);
    }
  sentences_ = even;
  LocalTraining training;
  training.epochs = 40;
  training.batch = 4;
  ExactOptions options;
  options.length = 4;
  const SentenceRecovery recovery = recover_exact_sentences(observe_client(training), options);
  std::vector<Sentence> found = recovered(recovery), common;
  const std::vector<Sentence> wanted = truth();
  std::set_intersection(found.begin(), found.end(), wanted.begin(), wanted.end(), std::back_inserter(common));
  EXPECT_GE(common.size(), wanted.size() - 1);
  EXPECT_FALSE(recovery.certified);
}

TEST_F(KeyboardModel, FewEpochsAreRecoveredThoughNotCertified) {
  LocalTraining training;
  training.epochs = 5;
  training.batch = 4;
  const SentenceRecovery recovery = recover_exact_sentences(observe_client(training), {});
  EXPECT_EQ(recovered(recovery), truth());
  EXPECT_FALSE(recovery.certified);
}

TEST_F(KeyboardModel, NoiseInTheStepLeavesTheSentencesReadable) {
  const std::vector<std::shared_ptr<const ClientDefence>> noise = {
      std::make_shared<NoisePerStep>(.05, Seed(3))};
  const SentenceRecovery recovery =
      recover_exact_sentences(observe(folder_->model, folder_->hash,
                                      train_locally(*folder_->model, sentences_, {}, folder_->hash, noise)),
                              {});
  const std::vector<Sentence> found = recovered(recovery), wanted = truth();
  std::vector<Sentence> common;
  std::set_intersection(found.begin(), found.end(), wanted.begin(), wanted.end(), std::back_inserter(common));
  EXPECT_GE(common.size() + 1, wanted.size());
  EXPECT_FALSE(recovery.certified);
}

TEST_F(KeyboardModel, TiedWeightsAreRecoveredAndCertified) {
  const auto& untied = dynamic_cast<const CifgLstm&>(*folder_->model);
  CifgConfig config = untied.config();
  config.tied = true;
  NamedTensors parameters = untied.parameters();
  parameters.erase("decoder.weight");
  folder_->model = std::make_shared<CifgLstm>(config, std::move(parameters));
  folder_->hash = hash_of(folder_->model->parameters());
  for (Sentence& sentence : sentences_) sentence.resize(std::min<std::size_t>(4, sentence.size()));
  LocalTraining training;
  training.train_embedding = true;
  const SentenceRecovery recovery = recover_exact_sentences(observe_client(training), {});
  EXPECT_EQ(recovered(recovery), truth());
  EXPECT_TRUE(recovery.certified);
}

TEST_F(KeyboardModel, TheSameForAnyNumberOfThreads) {
  const Observation observation = observe_client({});
  set_threads(1);
  const SentenceRecovery one = recover_exact_sentences(observation, {});
  set_threads(2);
  const SentenceRecovery two = recover_exact_sentences(observation, {});
  set_threads(0);
  EXPECT_EQ(one.residual, two.residual);
  ASSERT_EQ(one.sentences.size(), two.sentences.size());
  for (std::size_t i = 0; i < one.sentences.size(); ++i) {
    EXPECT_EQ(one.sentences[i].words, two.sentences[i].words);
    EXPECT_EQ(one.sentences[i].score, two.sentences[i].score);
  }
}

// Needs no model from elsewhere: hidden vectors of another length, most words next to impossible to predict.
TEST(ExactSentences, ASmallRandomModelGivesEverythingAway) {
  CifgConfig config;
  config.vocabulary = 400;
  config.embedding = 32;
  config.units = 96;
  for (const bool tied : {false, true}) {
    config.tied = tied;
    const std::shared_ptr<LanguageModel> model = CifgLstm::random(config, Seed(11));
    Random random(Seed(12));
    std::vector<Sentence> sentences;
    for (int i = 0; i < 12; ++i) {
      Sentence sentence;
      for (std::uint64_t length = 1 + random.below(5); length > 0; --length)
        sentence.push_back(static_cast<Token>(3 + random.below(397)));
      sentences.push_back(sentence);
    }
    sentences.push_back(sentences[0]);
    LocalTraining training;
    training.train_embedding = tied;
    const std::string hash = hash_of(model->parameters());
    const SentenceRecovery recovery =
        recover_exact_sentences(observe(model, hash, train_locally(*model, sentences, training, hash)), {});
    std::vector<Sentence> found = sentences_of(recovery);
    std::sort(found.begin(), found.end());
    std::sort(sentences.begin(), sentences.end());
    EXPECT_EQ(found, sentences) << (tied ? "tied" : "untied");
    EXPECT_TRUE(recovery.certified) << (tied ? "tied" : "untied");
  }
}

}  // namespace
}  // namespace undertext
