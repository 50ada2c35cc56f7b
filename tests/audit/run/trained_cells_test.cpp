// Cells whose model is trained on the clients' messages before it is attacked, and the defences of film.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "audit/experiment/cell_texts.h"
#include "audit/experiment/experiment_file.h"
#include "audit/experiment/freeze.h"
#include "audit/run/cell_run.h"
#include "audit/run/cell_training.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "text/messages.h"

namespace undertext {
namespace {

using nlohmann::json;

class TrainedCells : public ::testing::Test {
 protected:
  FrozenExperiment frozen(const std::string& lines) {
    write_file(folder_ / "e.toml", lines);
    const ExperimentRequest request{folder_ / "e.toml", "", {}};
    return freeze_experiment(read_experiment(request), request, sources_, "undertext run");
  }

  std::vector<json> metrics(const std::string& lines) {
    CellRunner runner(sources_);
    std::vector<json> all;
    for (const FrozenCell& cell : frozen(lines).cells) {
      const CellOutcome outcome = runner.run(cell);
      EXPECT_FALSE(outcome.failed) << outcome.error;
      all.push_back(outcome.failed ? json() : outcome.result.at("metrics"));
    }
    return all;
  }

  std::string complaint(const std::string& lines) {
    try {
      frozen(lines);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing";
  }

  std::shared_ptr<const ModelFolder> model(const FrozenCell& cell) {
    return trained_model(cell.config, sources_.model(cell.config.at("places").at("model")), sources_);
  }

  // Messages of which no two are the same.
  void write_texts(std::size_t count) const {
    std::set<std::string> lines;
    for (std::int64_t i = 0; lines.size() < count; ++i) lines.insert(generate_message(Seed(5), i).text);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_file(folder_ / "texts.txt", text);
  }

  TemporaryFolder folder_;
  Sources sources_{[](const std::string&) {}, std::nullopt};
};

const std::string kBase =
    "[model]\nfolder = \"built-in:gpt2-2x128\"\n[federation]\nsends = \"gradient\"\nreduction = \"mean\"\n"
    "train = \"all\"\n[run]\nsizes = 4\n[metrics]\nutility = 20\n";
const std::string kTraining = "[training]\non = \"private\"\ntexts = 24\nepochs = 6\nbatch = 8\n";

TEST_F(TrainedCells, KnowTheirMessagesBetterThanOthers) {
  const std::vector<json> all = metrics(kBase + kTraining + "at = [0, 0.5, 1]\n");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_LT(all[1].at("perplexity_before"), all[0].at("perplexity_before").get<double>() * 0.8);
  EXPECT_LT(all[2].at("perplexity_before"), all[1].at("perplexity_before").get<double>());
  const FrozenCell cell = frozen(kBase + kTraining).cells[0];
  const auto trained = model(cell);
  const CellTexts texts = texts_of(cell.config, *trained->tokenizer, sources_);
  EXPECT_LT(perplexity(*trained->model, texts.client), perplexity(*trained->model, texts.held_out));
}

TEST_F(TrainedCells, AttackedMessagesAreAmongThoseTrainedOnOrNot) {
  write_texts(100);
  for (const std::string files : {"built-in", "texts.txt"}) {
    const std::vector<FrozenCell> cells =
        frozen(kBase + kTraining + "attacked = [\"trained\", \"held-out\"]\n" + "[texts]\nfiles = \"" +
               files + "\"\n")
            .cells;
    ASSERT_EQ(cells.size(), 2u);
    for (const FrozenCell& cell : cells) {
      const auto folder = sources_.model(cell.config.at("places").at("model"));
      const std::vector<Sentence> trained =
          training_texts_of(cell.config, *folder->tokenizer, sources_).trained;
      EXPECT_EQ(trained.size(), 24u);
      const std::set<Sentence> known(trained.begin(), trained.end());
      const auto seen = [&](const std::vector<Sentence>& sentences) {
        return std::ranges::count_if(sentences, [&](const Sentence& s) { return known.contains(s); });
      };
      const CellTexts texts = texts_of(cell.config, *folder->tokenizer, sources_);
      const bool among = cell.config.at("training").at("attacked") == "trained";
      // Other messages may come down to the same known words.
      EXPECT_TRUE(among ? seen(texts.client) == 4 : seen(texts.client) <= 1) << files;
      EXPECT_LE(seen(texts.held_out), 2) << files;
    }
    EXPECT_EQ(model(cells[0])->hash, model(cells[1])->hash) << "one model for both";
  }
}

TEST_F(TrainedCells, FrozenEmbeddingsStayAsTheyAre) {
  const auto cells = frozen(kBase + kTraining).cells;
  json config = cells[0].config;
  config["federation"]["train"] = "all-but-embedding";
  const auto start = sources_.model(config.at("places").at("model"));
  const auto trained = trained_model(config, start, sources_);
  for (const auto& [name, tensor] : trained->model->parameters())
    EXPECT_EQ(tensor.equal(start->model->parameters().at(name)),
              name == *start->model->parameter_of(Role::token_embedding))
        << name;
}

TEST_F(TrainedCells, ADefenceHoldsInTheTrainingToo) {
  const std::vector<json> all = metrics(kBase + kTraining + R"(
    [[attack]]
    method = "paper"
    [[defence]]
    kind = "none"
    [[defence]]
    kind = "pruning"
    share = 0.99
    [[defence]]
    kind = "dpsgd"
    clip = 1
    sigma = 2
  )");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GT(all[1].at("perplexity_before"), all[0].at("perplexity_before"));
  EXPECT_GT(all[2].at("perplexity_before"), all[0].at("perplexity_before"));
  EXPECT_FALSE(all[0].contains("epsilon"));
  EXPECT_GT(all[2].at("epsilon"), 0.5);
  EXPECT_LT(all[2].at("recall"), all[0].at("recall"));
}

TEST_F(TrainedCells, AreTheSameFromTheCache) {
  const json config = frozen(kBase + kTraining).cells[0].config;
  const auto hash_of_cell = [&](const std::optional<std::filesystem::path>& cache) {
    Sources own([](const std::string&) {}, cache);
    return trained_model(config, own.model(config.at("places").at("model")), own)->hash;
  };
  const std::string first = hash_of_cell(folder_ / "cache"), again = hash_of_cell(folder_ / "cache");
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, hash_of_cell(std::nullopt));
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "cache"));
}

TEST_F(TrainedCells, TooFewMessagesAreTold) {
  write_texts(40);
  const std::string file = "[texts]\nfiles = \"texts.txt\"\n";
  EXPECT_NE(complaint(kBase + kTraining + file).find("40 messages, expected 44"), std::string::npos)
      << complaint(kBase + kTraining + file);
  EXPECT_NE(complaint("[training]\non = \"private\"\ntexts = 3\n" + kBase).find("expected 3 at most"),
            std::string::npos);
  EXPECT_NE(complaint(kTraining + "[model]\nfolder = \"built-in:gpt2-2x128\"\n").find("run.sizes is missing"),
            std::string::npos);
}

TEST_F(TrainedCells, FiltersChooseTheMessages) {
  write_file(folder_ / "texts.txt", "see robert in houston. Nobody came\nshort\nsee you at home on friday\n");
  const auto messages = [&](const std::string& lines) {
    const FrozenCell cell =
        frozen("[model]\nfolder = \"built-in:gpt2-2x128\"\n[texts]\nfiles = \"texts.txt\"\n" + lines)
            .cells[0];
    return cell.config.at("run").at("size").get<int>();
  };
  EXPECT_EQ(messages(""), 3);
  EXPECT_EQ(messages("min_words = 2\n"), 2);
  EXPECT_EQ(messages("min_words = 2\nsplit = true\n"), 3);
  EXPECT_EQ(messages("max_words = 2\nsplit = true\n"), 2);
  EXPECT_EQ(messages("min_entities = 2\n"), 1);
}

// Table 5: of frozen embeddings nothing shows, and of a gradient that is pruned to a few numbers nearly
// nothing.
TEST_F(TrainedCells, BagsMayBeEmpty) {
  const std::string attacks = R"(
    [[attack]]
    kind = "words"
    method = ["paper", "best"]
    [[attack]]
    kind = "film"
    method = "paper"
    reorder = "none"
  )";
  std::string frozen_embedding = kBase;
  frozen_embedding.replace(frozen_embedding.find("\"all\""), 5, "\"all-but-embedding\"");
  const std::vector<json> all = metrics(frozen_embedding + attacks);
  ASSERT_EQ(all.size(), 3u);
  for (const json& one : all) {
    const std::string prefix = one.contains("bag_precision") ? "bag_" : "";
    EXPECT_EQ(one.at(prefix + "precision"), 0);
    EXPECT_EQ(one.at(prefix + "recall"), 0);
  }
  const std::string pruned = "[[defence]]\nkind = \"pruning\"\nshare = [0.99, 0.999999]\n";
  EXPECT_EQ(metrics(kBase + attacks + pruned).size(), 6u);
}

TEST_F(TrainedCells, CountTheEntitiesOfAFile) {
  std::string texts;
  for (int i = 0; i < 24; ++i) texts += "see you at home\n";
  write_file(folder_ / "texts.txt", texts);
  const auto read = [&](const std::string& entity) {
    write_file(folder_ / (entity + ".txt"), entity + "\n");
    return metrics(kBase + "entities = \"" + entity + ".txt\"\n" + R"(
      [texts]
      files = "texts.txt"
      [[attack]]
      kind = "film"
      method = "paper"
      reorder = "none"
    )")[0];
  };
  EXPECT_TRUE(read("home").contains("entity_recall"));
  EXPECT_FALSE(read("houston").contains("entity_recall")) << "no message has the one that is listed";
}

TEST_F(TrainedCells, AreReadByFilm) {
  const std::vector<json> all = metrics(kBase + kTraining + R"(
    [texts]
    append_end = true
    [[attack]]
    kind = "film"
    method = ["paper", "best"]
    sentences = 2
    reorder_steps = 2
  )");
  ASSERT_EQ(all.size(), 2u);
  for (const json& one : all) {
    for (const char* name : {"first_rouge_l", "best_rouge_l", "rouge_l", "exact", "recall_25", "precision_25",
                             "bag_precision", "bag_recall", "confidence", "certified"})
      EXPECT_TRUE(one.contains(name)) << name;
    EXPECT_GT(one.at("bag_recall"), 0);
  }
}

}  // namespace
}  // namespace undertext
