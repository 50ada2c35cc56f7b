#include "audit/run/cell_run.h"

#include <gtest/gtest.h>

#include "attacks/words.h"
#include "audit/experiment/cell_texts.h"
#include "audit/experiment/small_experiment.h"
#include "base/threads.h"
#include "defences/noise.h"
#include "federated/local_training.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

using nlohmann::json;

class CellRuns : public ::testing::Test {
 protected:
  std::vector<CellOutcome> run(const std::string& lines) {
    CellRunner runner(small_.sources_);
    std::vector<CellOutcome> outcomes;
    for (const FrozenCell& cell : small_.frozen(lines).cells) outcomes.push_back(runner.run(cell));
    return outcomes;
  }

  SmallExperiment small_;
};

// The cell is the client and the attack that every other verb runs.
TEST_F(CellRuns, DoesWhatClientAndAttackDo) {
  const std::vector<CellOutcome> outcomes = run(R"(
    [federation]
    epochs = 3
    batch = 2
    learning_rate = 0.1
    [[attack]]
    method = "paper"
    cutoff = "none"
    [metrics]
    words = 4
  )");
  ASSERT_EQ(outcomes.size(), 1u);
  ASSERT_FALSE(outcomes[0].failed) << outcomes[0].error;

  const ModelFolder folder = load_model_folder(small_.folder_ / "model");
  std::vector<Sentence> sentences;
  for (const char* text : {"a b", "b c", "c d", "d e", "e a", "a c", "b d", "c e"})
    sentences.push_back(folder.tokenizer->encode(text));
  LocalTraining training;
  training.epochs = 3;
  training.batch = 2;
  training.learning_rate = 0.1;
  const Observation observation =
      observe(folder.model, folder.hash, train_locally(*folder.model, sentences, training, folder.hash));
  const WordRecovery recovery = recover_words_by_sign(observation);
  json scores = score_words(sentences, std::vector<Sentence>{ids_of(recovery)});
  std::vector<double> counts;
  for (const RecoveredWord& word : recovery.words) counts.push_back(word.count);
  scores["with_counts"] = score_counts(sentences, ids_of(recovery), counts);
  EXPECT_EQ(outcomes[0].result.at("metrics"), scores);
  ASSERT_GT(recovery.words.size(), 0u);
  EXPECT_EQ(outcomes[0].result.at("words")[0].at("id"), recovery.words[0].id);
  EXPECT_EQ(outcomes[0].result.at("words")[0].at("score"), recovery.words[0].score);
  EXPECT_TRUE(outcomes[0].result.at("words")[0].at("typed"));
}

TEST_F(CellRuns, KeepsASampleOfTheSentences) {
  const std::vector<CellOutcome> outcomes = run("[[attack]]\nkind = \"sentences\"\n[metrics]\nsample = 3\n");
  ASSERT_FALSE(outcomes[0].failed) << outcomes[0].error;
  const json& result = outcomes[0].result;
  EXPECT_EQ(result.at("sample").size(), 3u);
  EXPECT_GE(result.at("pairs"), 8);
  EXPECT_EQ(result.at("sample")[0].at("truth"), "a b");
  EXPECT_TRUE(result.at("metrics").contains("certified"));
}

TEST_F(CellRuns, DoesNotDependOnThreadsOrOnWhatRanBefore) {
  const std::string lines = R"(
    [federation]
    epochs = [1, 4]
    [[defence]]
    kind = ["none", "noise-per-step", "noise-on-result"]
    [[attack]]
    kind = "sentences"
    method = "paper"
    [metrics]
    utility = 2
    [run]
    sizes = 6
    seeds = [1, 2]
  )";
  set_threads(1);
  const std::vector<CellOutcome> one = run(lines);
  set_threads(2);
  std::vector<json> alone;
  for (const FrozenCell& cell : small_.frozen(lines).cells) {
    SmallExperiment fresh;
    alone.push_back(CellRunner(small_.sources_).run(cell).result);
  }
  set_threads(0);
  ASSERT_EQ(one.size(), alone.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_FALSE(one[i].failed) << one[i].error;
    EXPECT_EQ(one[i].result.dump(), alone[i].dump()) << i;
    EXPECT_TRUE(one[i].result.at("metrics").contains("perplexity_after"));
  }
}

TEST_F(CellRuns, ClientsDrawNoiseOfTheirOwn) {
  const std::vector<CellOutcome> outcomes = run(R"(
    [federation]
    clients = 2
    [[defence]]
    kind = "noise-on-result"
    sigma = 1
    [[attack]]
    method = "paper"
    cutoff = "none"
    [metrics]
    words = 8
    [run]
    sizes = 1
  )");
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_NE(outcomes[0].result.at("words"), outcomes[1].result.at("words"));
}

TEST_F(CellRuns, WhatGoesWrongIsAnOutcome) {
  // A gradient is of one step: two epochs have none to send.
  const std::vector<CellOutcome> outcomes = run("[federation]\nsends = \"gradient\"\nepochs = [1, 2]\n");
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_FALSE(outcomes[0].failed) << outcomes[0].error;
  EXPECT_TRUE(outcomes[1].failed);
  EXPECT_FALSE(outcomes[1].error.empty());
  EXPECT_TRUE(outcomes[1].result.is_null());
}

TEST_F(CellRuns, TextsThatChangedAfterFreezingAreNotUsed) {
  const FrozenExperiment experiment = small_.frozen("");
  write_file(small_.folder_ / "texts.txt", "b b\nb c\nc d\nd e\ne a\na c\nb d\nc e\n");
  Sources fresh([](const std::string&) {});
  const CellOutcome outcome = CellRunner(fresh).run(experiment.cells[0]);
  EXPECT_TRUE(outcome.failed);
  EXPECT_NE(outcome.error.find("has changed since the experiment was frozen"), std::string::npos)
      << outcome.error;
}

TEST(CellTexts, CutsMessagesAndLeavesShortOnesOut) {
  EXPECT_EQ(cut_messages({"see you at six then", "Ok!", "I, too: will come"}, 4),
            std::vector<std::string>({"see you at six", "I too will come"}));
  EXPECT_EQ(cut_messages({"Ok!"}, 0), std::vector<std::string>({"Ok!"}));
  EXPECT_EQ(lines_of_text("one\n\n  \ntwo\n!!\n"), std::vector<std::string>({"one", "two"}));
}

// A larger client of the built-in messages holds those of a smaller one: sizes are compared on the same
// texts.
TEST(CellTexts, BuiltInClientsGrow) {
  Sources sources([](const std::string&) {});
  const Vocabulary vocabulary({"</S>", "<S>", "<UNK>", "you", "the"});
  const auto texts = [&](int size, int client) {
    return texts_of({{"texts", {{"files", "built-in"}, {"hash", ""}, {"words", 4}, {"client", client}}},
                     {"metrics", {{"utility", 3}}},
                     {"run", {{"seed", 1}, {"size", size}}},
                     {"places", {{"texts", "built-in"}, {"held_out", "built-in"}}}},
                    vocabulary, sources);
  };
  const CellTexts small = texts(4, 0), large = texts(8, 0);
  EXPECT_EQ(large.client.size(), 8u);
  EXPECT_EQ(small.held_out.size(), 3u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(small.client[i], large.client[i]);
    EXPECT_EQ(small.client[i].size(), 4u);
  }
  EXPECT_NE(texts(64, 0).client, texts(64, 1).client);
}

}  // namespace
}  // namespace undertext
