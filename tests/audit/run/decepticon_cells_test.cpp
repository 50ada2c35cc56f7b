// Cells with a malicious server, texts cut into sequences, several users, clipping and random tokens.
#include <gtest/gtest.h>

#include "attacks/decepticons/corrupt.h"
#include "audit/chosen_attack.h"
#include "audit/experiment/cell_texts.h"
#include "audit/experiment/experiment_file.h"
#include "audit/experiment/freeze.h"
#include "audit/public_transformer.h"
#include "audit/run/cell_run.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "federated/local_training.h"
#include "text/sequences.h"

namespace undertext {
namespace {

using nlohmann::json;

class DecepticonCells : public ::testing::Test {
 protected:
  FrozenExperiment frozen(const std::string& lines) {
    write_file(folder_ / "e.toml", lines);
    const ExperimentRequest request{folder_ / "e.toml", "", {}};
    return freeze_experiment(read_experiment(request), request, sources_, "undertext run");
  }

  std::vector<CellOutcome> run(const std::string& lines) {
    CellRunner runner(sources_);
    std::vector<CellOutcome> outcomes;
    for (const FrozenCell& cell : frozen(lines).cells) outcomes.push_back(runner.run(cell));
    return outcomes;
  }

  std::string message_of(const std::string& lines) {
    try {
      frozen(lines);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  Sources sources_{[](const std::string&) {}, std::nullopt};
};

const std::string kModel = "[model]\nfolder = \"built-in:transformer\"\n";
const std::string kGradient =
    "[federation]\nsends = \"gradient\"\nreduction = \"mean\"\ntrain = \"all\"\ndropout = false\n";

TEST_F(DecepticonCells, DoWhatServerClientAndAttackDo) {
  const std::vector<CellOutcome> outcomes = run(kModel + kGradient + R"(
    [texts]
    length = 16
    [server]
    state = "best"
    [[attack]]
    kind = "decepticon"
    [run]
    sizes = 3
    seeds = 5
  )");
  ASSERT_EQ(outcomes.size(), 1u);
  ASSERT_FALSE(outcomes[0].failed) << outcomes[0].error;
  const json& metrics = outcomes[0].result.at("metrics");
  EXPECT_EQ(metrics.at("tokens"), 48);
  EXPECT_EQ(metrics.at("truth"), 3);
  EXPECT_GT(metrics.at("total_accuracy"), 0.99);
  EXPECT_EQ(outcomes[0].result.at("sample").size(), 3u);
  EXPECT_EQ(outcomes[0].result.at("sample")[0].at("truth"),
            outcomes[0].result.at("sample")[0].at("recovered"));

  const ModelFolder folder = public_transformer(*recipe_named("built-in:transformer"), std::nullopt, {});
  const CorruptedState state =
      corrupt(dynamic_cast<const Transformer&>(*folder.model), {.length = 16, .seed = 5});
  CellTexts texts = texts_of(
      frozen(kModel + kGradient + "[texts]\nlength = 16\n[run]\nsizes = 3\nseeds = 5\n").cells[0].config,
      *folder.tokenizer, sources_);
  const LocalTraining training{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient, .dropout = false};
  const Observation observation =
      observe(state.model, state.key.state_hash,
              train_locally(*state.model, texts.client, training, state.key.state_hash));
  const RecoveredTokens tokens =
      tokens_of(recover(DecepticonAttack{.sequences = 3, .length = 16, .seed = 5}, observation, state.key));
  EXPECT_EQ(json(score_sequences(texts.client, tokens.ids, {tokens.confidence, tokens.certified})), metrics);
}

TEST_F(DecepticonCells, DoNotDependOnThreadsOrOnWhatRanBefore) {
  const std::string lines = kModel + kGradient + R"(
    [texts]
    files = ["random", "built-in"]
    length = 8
    [[defence]]
    kind = "clipping"
    clip = 0.5
    [run]
    sizes = [1, 2]
    [[variant]]
    server.state = ["paper", "best"]
    attack = [{kind = "decepticon"}]
    [[variant]]
    server.state = "honest"
    attack = [{kind = "words"}]
  )";
  set_threads(1);
  const std::vector<CellOutcome> one = run(lines);
  set_threads(2);
  std::vector<json> alone;
  for (const FrozenCell& cell : frozen(lines).cells) alone.push_back(CellRunner(sources_).run(cell).result);
  set_threads(0);
  ASSERT_EQ(one.size(), 12u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_FALSE(one[i].failed) << one[i].error;
    EXPECT_EQ(one[i].result.dump(), alone[i].dump()) << i;
  }
}

// What 2 users with a sequence each send on average is what one with two would.
TEST_F(DecepticonCells, AverageOverUsers) {
  const std::string lines =
      kModel + "[server]\nstate = \"best\"\n[[attack]]\nkind = \"decepticon\"\n" + "[texts]\nlength = 12\n";
  const std::vector<CellOutcome> two = run(lines + kGradient + "users = 2\n[run]\nsizes = 1\n");
  const std::vector<CellOutcome> one = run(lines + kGradient + "[run]\nsizes = 2\n");
  ASSERT_FALSE(two[0].failed) << two[0].error;
  EXPECT_EQ(two[0].result.at("metrics").at("truth"), 2);
  EXPECT_EQ(two[0].result.at("sample"), one[0].result.at("sample"));
}

TEST_F(DecepticonCells, ScoreMatchedGradientsAlike) {
  const std::vector<CellOutcome> outcomes = run(kModel + kGradient + R"(
    [texts]
    length = 4
    [[attack]]
    kind = "tag"
    iterations = 3
    [run]
    sizes = 1
  )");
  ASSERT_FALSE(outcomes[0].failed) << outcomes[0].error;
  EXPECT_TRUE(outcomes[0].result.at("metrics").contains("total_accuracy"));
  EXPECT_TRUE(outcomes[0].result.at("metrics").contains("unmatched"));
  EXPECT_FALSE(outcomes[0].result.at("metrics").contains("certified_share"));
}

TEST_F(DecepticonCells, CutFilesIntoSharesOfTheirStream) {
  std::string lines;
  for (const char* word : {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
    lines += std::string(word) + " o'clock\n";
  write_file(folder_ / "texts.txt", lines);
  const FrozenExperiment experiment = frozen(
      kModel + kGradient + "clients = 3\n[texts]\nfiles = \"texts.txt\"\nlength = 3\n[run]\nsizes = 2\n");
  ASSERT_EQ(experiment.cells.size(), 3u);
  const auto folder = sources_.model("built-in:transformer");
  std::vector<Sentence> all;
  for (const FrozenCell& cell : experiment.cells)
    for (Sentence& sequence : texts_of(cell.config, *folder->tokenizer, sources_).client)
      all.push_back(std::move(sequence));
  EXPECT_EQ(all, cut_into_sequences(
                     std::vector<Sentence>{folder->tokenizer->encode(
                         "one o'clock two o'clock three o'clock four o'clock five o'clock six o'clock seven "
                         "o'clock eight o'clock nine o'clock")},
                     3, "text"));
  const std::vector<CellOutcome> outcomes =
      run(kModel + kGradient + "clients = 4\n[texts]\nfiles = \"texts.txt\"\nlength = 3\n[run]\nsizes = 2\n");
  EXPECT_FALSE(outcomes[2].failed) << outcomes[2].error;
  EXPECT_EQ(outcomes[3].error, "texts.txt, client 3: 2 tokens, expected at least one sequence of 3");
}

TEST_F(DecepticonCells, AreToldWhatDoesNotFit) {
  const std::string attack = "[[attack]]\nkind = \"decepticon\"\n", cut = "[texts]\nlength = 8\n",
                    sizes = "[run]\nsizes = 1\n";
  const std::vector<CellOutcome> honest = run(kModel + kGradient + cut + attack + sizes);
  EXPECT_NE(honest[0].error.find("expected server.state paper or best"), std::string::npos)
      << honest[0].error;
  const std::string malicious = "[server]\nstate = \"best\"\n";
  const std::vector<CellOutcome> weights = run(kModel + malicious + cut + attack + sizes);
  EXPECT_TRUE(weights[0].failed);
  EXPECT_NE(message_of(kModel + "[texts]\nfiles = \"random\"\n" + sizes).find("texts.length is missing"),
            std::string::npos);
  EXPECT_NE(message_of(kModel + cut).find("run.sizes is missing"), std::string::npos);
  EXPECT_NE(message_of(kModel + "[texts]\nlength = 8\ntokens = 8\n" + sizes).find("expected one of them"),
            std::string::npos);
  EXPECT_NE(message_of(kModel + "[federation]\nusers = 2\n" + sizes).find("expected texts.length with it"),
            std::string::npos);
  EXPECT_NE(message_of(kModel + "[server]\ndisguise = 1\n" + cut + sizes).find("means nothing here"),
            std::string::npos);
  EXPECT_NE(message_of(kModel + "[server]\nstate = \"best\"\ntexts = \"none.txt\"\n" +
                       "[texts]\nfiles = \"random\"\nlength = 8\n" + sizes)
                .find("server.texts: there is no file"),
            std::string::npos);
}

// Texts that are compared are no repetitions of each other.
TEST_F(DecepticonCells, CompareTextsWhereAPlotDoes) {
  const std::string lines =
      kModel + kGradient + "[texts]\nfiles = [\"random\", \"built-in\"]\nlength = 8\n[run]\nsizes = [1, 2]\n";
  const std::string plot = "[[plot]]\nkind = \"line\"\nx = \"run.size\"\ny = \"f1\"\n";
  EXPECT_EQ(frozen(lines + plot).facts.at("axes"), json({"run.size"}));
  EXPECT_EQ(frozen(lines + plot + "series = \"texts.files\"\n").facts.at("axes"),
            json({"texts.files", "run.size"}));
}

TEST_F(DecepticonCells, CanMeasureOnPublicTexts) {
  write_file(folder_ / "public.txt", "see you at home tomorrow then\nwhat a day it was for all of us\n");
  const std::string rest = "[texts]\nlength = 8\n[[attack]]\nkind = \"decepticon\"\n[run]\nsizes = 2\n";
  const std::vector<CellOutcome> outcomes =
      run(kModel + kGradient +
          "[server]\nstate = \"best\"\ntexts = [\"random\", \"built-in\", \"public.txt\"]\n" + rest);
  ASSERT_EQ(outcomes.size(), 3u);
  for (const CellOutcome& outcome : outcomes) EXPECT_FALSE(outcome.failed) << outcome.error;
}

TEST_F(DecepticonCells, HaveBuiltInModelsOfEveryKind) {
  for (const char* name : {"transformer", "transformer-gelu", "gpt2-mini", "bert-mini"}) {
    const auto folder = sources_.model(std::string("built-in:") + name);
    EXPECT_EQ(folder->model->vocabulary_size(), folder->tokenizer->size()) << name;
    EXPECT_TRUE(takes_tokenizer(std::string("built-in:") + name));
    folder->model->check(std::vector<Sentence>{{5, 6, 7}},
                         name);  // a masked one has something to hide words by
  }
  EXPECT_FALSE(takes_tokenizer("built-in:gpt2"));
  EXPECT_FALSE(is_built_in_model("built-in:gpt3"));
}

// The tokenizer's folder gives a model its vocabulary, and another name.
TEST_F(DecepticonCells, TakeATokenizer) {
  std::filesystem::create_directory(folder_ / "words");
  write_file(folder_ / "words" / "vocab.txt", "</S>\n<S>\n<UNK>\na\nb\nc\n");
  const std::string rest = "[run]\nsizes = 1\n";
  const json there =
      frozen("[model]\nfolder = \"built-in:transformer\"\ntokenizer = \"words\"\n" + rest).cells[0].config;
  EXPECT_EQ(there.at("model").at("folder"), "built-in:transformer (words)");
  EXPECT_EQ(sources_.model(there.at("places").at("model"))->model->vocabulary_size(), 6);
  const json absent =
      frozen("[model]\nfolder = \"built-in:transformer\"\ntokenizer = \"none\"\n" + rest).cells[0].config;
  EXPECT_EQ(absent.at("model").at("folder"), "built-in:transformer");
  EXPECT_NE(absent.at("model").at("hash"), there.at("model").at("hash"));
}

}  // namespace
}  // namespace undertext
