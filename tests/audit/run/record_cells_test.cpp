// Cells that read records from whole federations.
#include <gtest/gtest.h>

#include "audit/experiment/experiment_file.h"
#include "audit/experiment/freeze.h"
#include "audit/run/cell_run.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

using nlohmann::json;

class RecordCells : public ::testing::Test {
 protected:
  FrozenExperiment frozen(const std::string& lines) {
    write_file(folder_ / "e.toml", lines);
    const ExperimentRequest request{folder_ / "e.toml", "", {}};
    return freeze_experiment(read_experiment(request), request, sources_, "undertext run");
  }

  std::string complaint(const std::string& lines) {
    try {
      frozen(lines);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing";
  }

  TemporaryFolder folder_;
  Sources sources_{[](const std::string&) {}, folder_ / "cache"};
};

// A pattern of ten texts, so that a model that has learned next to nothing has them all as candidates.
const std::string kFederation =
    "[model]\nfolder = \"built-in:char-lstm\"\n"
    "[texts]\nper_client = 700\nsequence = 50\n"
    "[federation]\nclients = 3\nper_round = 2\nrounds = 4\nepochs = 1\nbatch = 4\nlearning_rate = 0.004\n"
    "reduction = \"mean\"\ntrain = \"all\"\n"
    "[records]\npattern = \"code {d}\"\ntimes = 3\nwatermarks = 1\n";

TEST_F(RecordCells, ScoreEveryMethodOnOneFederation) {
  const FrozenExperiment experiment = frozen(
      kFederation +
      "[[attack]]\nkind = \"records\"\nranked_by = [\"baseline\", \"eavesdrop\", \"watermark\", \"best\"]\n"
      "until = [3, 4]\n");
  ASSERT_EQ(experiment.cells.size(), 8u);
  CellRunner runner(sources_);
  for (const FrozenCell& cell : experiment.cells) {
    const CellOutcome outcome = runner.run(cell);
    ASSERT_FALSE(outcome.failed) << outcome.error;
    const json& metrics = outcome.result.at("metrics");
    EXPECT_EQ(metrics.at("top_10"), 1) << "ten candidates are all there are";
    EXPECT_GE(metrics.at("distance_1"), 0);
    EXPECT_LE(metrics.at("distance_1"), 1) << "one character is free";
    EXPECT_GT(metrics.at("bits_per_character"), 1);
    EXPECT_EQ(outcome.result.at("sample").size(), 3u);
  }
  std::int64_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache" / "federations"))
    kept += entry.is_directory();
  EXPECT_EQ(kept, 1) << "one federation serves all cells";
}

TEST_F(RecordCells, AreTheSameWithAndWithoutACache) {
  const FrozenCell cell = frozen(kFederation + "[[attack]]\nkind = \"records\"\n").cells.at(0);
  const json kept = CellRunner(sources_).run(cell).result, again = CellRunner(sources_).run(cell).result;
  Sources none([](const std::string&) {}, std::nullopt);
  EXPECT_EQ(again, kept);
  EXPECT_EQ(CellRunner(none).run(cell).result, kept);
}

TEST_F(RecordCells, RefuseWhatMeansNothing) {
  const std::string records = "[[attack]]\nkind = \"records\"\n";
  EXPECT_NE(complaint("[run]\nsizes = 4\n" + records).find("federation.rounds"), std::string::npos);
  EXPECT_NE(complaint(kFederation + "[[attack]]\nkind = \"words\"\n").find("\"records\""), std::string::npos);
  const std::string unmarked = kFederation.substr(0, kFederation.find("watermarks"));
  EXPECT_NE(complaint(unmarked + records + "ranked_by = \"watermark\"\n").find("records.watermarks"),
            std::string::npos);
  const CellOutcome late =
      CellRunner(sources_).run(frozen(kFederation + records + "until = 9\n").cells.at(0));
  EXPECT_TRUE(late.failed);
  EXPECT_NE(late.error.find("at most the 4 rounds"), std::string::npos) << late.error;
}

TEST_F(RecordCells, GiveEachDefenceAFederationOfItsOwn) {
  const FrozenExperiment experiment =
      frozen(kFederation +
             "[[defence]]\nkind = \"none\"\n[[defence]]\nkind = \"noised-embedding\"\nsigma = 3\n"
             "[[attack]]\nkind = \"records\"\n");
  ASSERT_EQ(experiment.cells.size(), 2u);
  CellRunner runner(sources_);
  const json plain = runner.run(experiment.cells[0]).result, noised = runner.run(experiment.cells[1]).result;
  EXPECT_NE(plain.at("metrics").at("bits_per_character"), noised.at("metrics").at("bits_per_character"));
}

}  // namespace
}  // namespace undertext
