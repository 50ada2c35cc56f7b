#include "audit/experiment/freeze.h"

#include <gtest/gtest.h>

#include <set>

#include "audit/experiment/small_experiment.h"
#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;

class Freezing : public ::testing::Test {
 protected:
  std::string complaint(const std::string& lines) {
    try {
      small_.frozen(lines);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing";
  }

  SmallExperiment small_;
};

TEST_F(Freezing, CellsAreNamedByContentNotByPlace) {
  const FrozenExperiment first = small_.frozen("");
  ASSERT_EQ(first.cells.size(), 1u);
  EXPECT_EQ(first.cells[0].key.size(), 32u);
  EXPECT_EQ(first.cells[0].config.at("run").at("size"), 8);
  SmallExperiment elsewhere;  // the same content in another folder
  EXPECT_EQ(elsewhere.frozen("").cells[0].key, first.cells[0].key);
}

TEST_F(Freezing, AnotherTextAnotherModelOrAnotherValueIsAnotherCell) {
  std::set<std::string> keys = {small_.frozen("").cells[0].key,
                                small_.frozen("[run]\nseeds = 2").cells[0].key,
                                small_.frozen("[metrics]\nsample = 3").cells[0].key};
  SmallExperiment changed;
  write_file(changed.folder_ / "texts.txt", "a b\nb c\nc d\nd e\ne a\na c\nb d\nc c\n");
  keys.insert(changed.frozen("").cells[0].key);
  SmallExperiment words;
  Vocabulary({"</S>", "<S>", "<UNK>", "a", "b", "c", "d", "f"}).save(words.folder_ / "model");
  keys.insert(words.frozen("").cells[0].key);
  EXPECT_EQ(keys.size(), 5u);
}

TEST_F(Freezing, ClientsShareOutTheMessages) {
  const FrozenExperiment experiment = small_.frozen("[federation]\nclients = 4");
  ASSERT_EQ(experiment.cells.size(), 4u);
  for (std::int64_t i = 0; i < 4; ++i) {
    const json& config = experiment.cells[static_cast<std::size_t>(i)].config;
    EXPECT_EQ(config.at("texts").at("client"), i);
    EXPECT_EQ(config.at("run").at("size"), 2);
  }
  // Clients are repetitions, not an axis.
  EXPECT_EQ(experiment.facts.at("axes"), json::array());
}

TEST_F(Freezing, SelectionTakesSomeClientsByTheSeed) {
  const auto chosen = [&](int seed) {
    std::vector<std::int64_t> clients;
    for (const FrozenCell& cell :
         small_
             .frozen(fmt::format(
                 "[federation]\nclients = 8\nselected = 3\nselection = \"random\"\n[run]\nseeds = {}", seed))
             .cells)
      clients.push_back(cell.config.at("texts").at("client"));
    return clients;
  };
  const std::vector<std::int64_t> first = chosen(1);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 3u);
  EXPECT_EQ(chosen(1), chosen(1));
  std::set<std::vector<std::int64_t>> different;
  for (int seed = 1; seed <= 8; ++seed) different.insert(chosen(seed));
  EXPECT_GT(different.size(), 3u);
}

TEST_F(Freezing, PatternsFindFilesBySize) {
  write_file(small_.folder_ / "4_b.txt", "a b\nb c\nc d\nd e\n");
  write_file(small_.folder_ / "4_a.txt", "b a\nb c\nc d\nd e\n");
  write_file(small_.folder_ / "2_a.txt", "a b\nb c\n");
  write_file(small_.folder_ / "e.toml",
             "[model]\nfolder = \"model\"\n[texts]\nfiles = \"{size}_*.txt\"\n[run]\nsizes = [2, 4]\n");
  const ExperimentRequest request{small_.folder_ / "e.toml", "", {}};
  std::vector<std::string> files;
  const FrozenExperiment experiment =
      freeze_experiment(read_experiment(request), request, small_.sources_, "");
  for (const FrozenCell& cell : experiment.cells) files.push_back(cell.config.at("texts").at("files"));
  EXPECT_EQ(files, std::vector<std::string>({"2_a.txt", "4_a.txt", "4_b.txt"}));
  EXPECT_EQ(experiment.facts.at("axes"), json::array({"run.size"}));
}

TEST_F(Freezing, WhatIsMissingFallsBackOrIsToldByName) {
  write_file(
      small_.folder_ / "other.toml",
      "[model]\nfolder = \"nowhere\"\notherwise = \"model\"\n[texts]\nfiles = \"none_*.txt\"\notherwise = "
      "\"texts.txt\"\n");
  const ExperimentRequest request{small_.folder_ / "other.toml", "", {}};
  EXPECT_EQ(freeze_experiment(read_experiment(request), request, small_.sources_, "").cells[0].key,
            small_.frozen("").cells[0].key);
  write_file(small_.folder_ / "lost.toml", "[model]\nfolder = \"nowhere\"\n");
  const ExperimentRequest lost{small_.folder_ / "lost.toml", "", {}};
  try {
    freeze_experiment(read_experiment(lost), lost, small_.sources_, "");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("model.folder: there is no folder"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
  }
}

TEST_F(Freezing, ListedEntitiesAreNamedByContent) {
  const std::string lines = "[metrics]\nentities = \"entities.txt\"\n";
  EXPECT_NE(complaint(lines).find("metrics.entities: there is no file"), std::string::npos);
  const auto key_with = [&](const std::string& name, const std::string& content) {
    write_file(small_.folder_ / name, content);
    return small_.frozen("[metrics]\nentities = \"" + name + "\"\n").cells[0].key;
  };
  const std::string key = key_with("entities.txt", "a b\n");
  EXPECT_EQ(key, key_with("same.txt", "a b\n"));
  EXPECT_NE(key, key_with("others.txt", "a c\n"));
  EXPECT_NE(key, small_.frozen("").cells[0].key);
  write_file(small_.folder_ / "empty.txt", "");
  EXPECT_NE(complaint("[metrics]\nentities = \"empty.txt\"\n").find("the file is empty"), std::string::npos);
}

TEST_F(Freezing, TooFewMessagesAreTold) {
  EXPECT_NE(complaint("[run]\nsizes = 9").find("texts.txt: 8 messages, expected 9 for a client of 9"),
            std::string::npos);
  EXPECT_NE(complaint("[federation]\nclients = 3\n[run]\nsizes = 3")
                .find("8 messages, expected 9 for 3 clients of 3"),
            std::string::npos);
  EXPECT_NE(complaint("[federation]\nselected = 2").find("federation.selected is 2"), std::string::npos);
  EXPECT_NE(complaint("[metrics]\nutility = 1").find("0 messages are left for the utility, expected 1"),
            std::string::npos);
  EXPECT_EQ(complaint("[metrics]\nutility = 2\n[run]\nsizes = 6"), "nothing");
}

TEST_F(Freezing, AxesAreWhatDiffers) {
  const std::string lines = R"(
    [federation]
    epochs = [1, 2]
    [[defence]]
    [[defence]]
    kind = "noise-per-step"
    [run]
    seeds = [1, 2]
  )";
  const FrozenExperiment experiment = small_.frozen(lines);
  EXPECT_EQ(experiment.cells.size(), 8u);
  // There is one strength of noise: the kind tells it.
  EXPECT_EQ(experiment.facts.at("axes"), json::array({"federation.epochs", "defence.kind"}));
  const FrozenExperiment plotted = small_.frozen(
      lines +
      "[[plot]]\nkind = \"line\"\nx = \"federation.epochs\"\ny = \"f1\"\nseries = \"defence.sigma\"\n");
  EXPECT_EQ(plotted.facts.at("axes"), json::array({"federation.epochs", "defence.kind", "defence.sigma"}));
}

}  // namespace
}  // namespace undertext
