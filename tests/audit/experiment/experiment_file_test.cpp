#include "audit/experiment/experiment_file.h"

#include <gtest/gtest.h>

#include "audit/experiment/schema.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

using nlohmann::json;

class ExperimentFiles : public ::testing::Test {
 protected:
  ExperimentFile read(const std::string& text, const std::string& profile = "",
                      const std::vector<std::string>& sets = {}) {
    write_file(file_, text);
    return read_experiment({file_, profile, sets});
  }

  // The complaint about a file, without the folder's name.
  std::string complaint(const std::string& text, const std::string& profile = "",
                        const std::vector<std::string>& sets = {}) {
    try {
      read(text, profile, sets);
    } catch (const UserError& error) {
      std::string message = error.what();
      const std::string folder = folder_.path().string() + "/";
      if (const std::size_t at = message.find(folder); at != std::string::npos)
        message.erase(at, folder.size());
      return message;
    }
    return "nothing";
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "e.toml";
};

std::vector<json> column(const ExperimentFile& file, const char* section, const char* name) {
  std::vector<json> values;
  for (const json& cell : file.cells) values.push_back(cell.at(section).value(name, json()));
  return values;
}

TEST_F(ExperimentFiles, AnEmptyFileIsOneCellOfDefaults) {
  const ExperimentFile file = read("");
  ASSERT_EQ(file.cells.size(), 1u);
  EXPECT_EQ(file.name, "e");
  EXPECT_EQ(file.cells[0].at("federation").at("epochs"), 1);
  EXPECT_EQ(file.cells[0].at("model").at("folder"), "built-in");
  EXPECT_EQ(file.cells[0].at("defence"), json({{"kind", "none"}}));
  EXPECT_EQ(file.cells[0].at("attack"), json({{"kind", "words"}, {"method", "best"}}));
}

TEST_F(ExperimentFiles, ListsAreMultiplied) {
  const ExperimentFile file = read(R"(
    [federation]
    epochs = [1, 10, 100]
    [run]
    seeds = [1, 2]
    sizes = [16, 64]
  )");
  EXPECT_EQ(file.cells.size(), 12u);
  EXPECT_EQ(std::set<json>(file.cells.begin(), file.cells.end()).size(), 12u);
}

TEST_F(ExperimentFiles, RangesHaveBothEnds) {
  EXPECT_EQ(column(read("[federation]\nlearning_rate = {from = 0.001, to = 1, steps = 4, scale = \"log\"}"),
                   "federation", "learning_rate"),
            std::vector<json>({0.001, 0.01, 0.1, 1.0}));
  EXPECT_EQ(column(read("[federation]\nepochs = {from = 1, to = 7, steps = 3}"), "federation", "epochs"),
            std::vector<json>({1, 4, 7}));
  // Whole numbers that round to the same are one.
  EXPECT_EQ(column(read("[federation]\nepochs = {from = 1, to = 3, steps = 6}"), "federation", "epochs"),
            std::vector<json>({1, 2, 3}));
  // A list may hold a range, and what it repeats is one value.
  EXPECT_EQ(column(read("[federation]\nepochs = [1, {from = 1, to = 3, steps = 3}]"), "federation", "epochs"),
            std::vector<json>({1, 2, 3}));
}

TEST_F(ExperimentFiles, EachDefenceAndEachAttackIsOneMoreChoice) {
  const ExperimentFile file = read(R"(
    [[defence]]
    kind = "none"
    [[defence]]
    kind = ["noise-per-step", "noise-on-result"]
    sigma = [0.1, 1]
    [[attack]]
    [[attack]]
    kind = "sentences"
    method = "paper"
    scale = [0, "auto"]
  )");
  EXPECT_EQ(file.cells.size(), 5u * 3u);
}

// With kind = ["none", ...] the strength means nothing for "none": one cell, not one for each strength.
TEST_F(ExperimentFiles, WhatMeansNothingInACombinationIsLeftOut) {
  const ExperimentFile file = read(R"(
    [[defence]]
    kind = ["none", "noise-per-step"]
    sigma = [0.1, 1]
  )");
  EXPECT_EQ(column(file, "defence", "sigma"), std::vector<json>({nullptr, 0.1, 1.0}));
}

TEST_F(ExperimentFiles, AProfileReplacesValues) {
  const std::string text = R"(
    [federation]
    epochs = [1, 10]
    batch = 32
    [profile.quick]
    federation.epochs = 1
    [profile.full.federation]
    epochs = [1, 10, 100]
  )";
  EXPECT_EQ(read(text).cells.size(), 2u);
  EXPECT_EQ(read(text, "quick").cells.size(), 1u);
  EXPECT_EQ(read(text, "full").cells.size(), 3u);
  EXPECT_EQ(read(text, "full").cells[0].at("federation").at("batch"), 32);
  EXPECT_EQ(complaint(text, "quik"), "e.toml: it has no profile \"quik\", expected one of full, quick");
  EXPECT_EQ(complaint("", "quick"), "e.toml: it has no profiles, --profile quick given");
}

TEST_F(ExperimentFiles, SetsStandAboveTheProfile) {
  const std::string text = "[federation]\nepochs = 3\n[profile.quick]\nfederation.epochs = 1\n";
  EXPECT_EQ(column(read(text, "quick", {"federation.epochs=[7, 8]"}), "federation", "epochs"),
            std::vector<json>({7, 8}));
  // A text needs no quotes; a list section is meant whole, or by number.
  const std::string two = "[[attack]]\n[[attack]]\nkind = \"sentences\"\n";
  EXPECT_EQ(column(read(two, "", {"attack.method=paper"}), "attack", "method"),
            std::vector<json>({"paper", "paper"}));
  EXPECT_EQ(column(read(two, "", {"attack.1.method=paper"}), "attack", "method"),
            std::vector<json>({"best", "paper"}));
  EXPECT_EQ(column(read("", "", {"attack.kind=sentences"}), "attack", "kind"),
            std::vector<json>({"sentences"}));
}

TEST_F(ExperimentFiles, VariantsAreUnited) {
  const std::string text = R"(
    [federation]
    batch = 32
    [[variant]]
    federation.epochs = [1, 10]
    [[variant]]
    federation = { epochs = [1, 100], batch = 0 }
    [[variant]]
    federation.epochs = 1
  )";
  const ExperimentFile file = read(text);
  EXPECT_EQ(column(file, "federation", "epochs"), std::vector<json>({1, 10, 1, 100}));
  EXPECT_EQ(column(file, "federation", "batch"), std::vector<json>({32, 32, 0, 0}));
  EXPECT_EQ(column(read(text, "", {"federation.epochs=5"}), "federation", "batch"),
            std::vector<json>({32, 0}));
}

TEST_F(ExperimentFiles, PlotsAreRead) {
  const ExperimentFile file = read(R"(
    [[plot]]
    kind = "line"
    x = "federation.epochs"
    y = "f1"
    series = "run.size"
    facet = "attack.cutoff"
    log_x = true
    where = { defence.sigma = 0.1, "attack.kind" = "words" }
  )");
  ASSERT_EQ(file.plots.size(), 1u);
  EXPECT_EQ(file.plots[0].series, "run.size");
  EXPECT_TRUE(file.plots[0].log_x);
  const std::vector<std::pair<std::string, json>> where = {{"attack.kind", "words"}, {"defence.sigma", 0.1}};
  EXPECT_EQ(file.plots[0].where, where);
}

struct Mistake {
  const char* text;
  const char* complaint;
};

class Mistakes : public ExperimentFiles, public ::testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreToldWithFileLineAndWhatWasExpected) {
  EXPECT_EQ(complaint(GetParam().text), GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    ::testing::Values(
        Mistake{"\n[federation]\nepoch = 3\n",
                "e.toml:3: federation.epoch: unknown key; the nearest valid key is federation.epochs"},
        Mistake{"[federtion]\n", "e.toml:1: federtion: unknown key; the nearest valid key is federation"},
        Mistake{"[profile.quick.run]\nseed = 1\n",
                "e.toml:2: run.seed: unknown key; the nearest valid key is run.seeds"},
        Mistake{"[[variant]]\nrun.size = 1\n",
                "e.toml:2: run.size: unknown key; the nearest valid key is run.sizes"},
        Mistake{"[profile.quick]\nfederation.epochs = 0\n",
                "e.toml:2: federation.epochs is 0, expected a whole number from 1 to 2147483647"},
        Mistake{"[federation]\nepochs = 1.5\n",
                "e.toml:2: federation.epochs is 1.5, expected a whole number from 1 to 2147483647"},
        Mistake{"[federation]\nepochs = \"ten\"\n",
                "e.toml:2: federation.epochs is \"ten\", expected a whole number from 1 to 2147483647"},
        Mistake{"[federation]\nepochs = []\n",
                "e.toml:2: federation.epochs is an empty list, expected at least one value"},
        Mistake{"[federation]\nepochs = [1, [2]]\n",
                "e.toml:2: federation.epochs is [2], expected a whole number from 1 to 2147483647"},
        Mistake{"[federation]\nreduction = \"summ\"\n",
                "e.toml:2: federation.reduction is \"summ\", expected one of \"sum\", \"mean\"; did you mean "
                "\"sum\"?"},
        Mistake{"[federation]\nzero_output_bias = 1\n",
                "e.toml:2: federation.zero_output_bias is 1, expected true or false"},
        Mistake{"[federation]\nlearning_rate = inf\n",
                "e.toml:2: federation.learning_rate is inf, expected a number from 1e-30 to 1e+18"},
        Mistake{"[federation]\nepochs = {from = 1, until = 3, steps = 2}\n",
                "e.toml:2: federation.epochs.until: unknown key; the nearest valid key is "
                "federation.epochs.to"},
        Mistake{"[federation]\nepochs = {from = 1, steps = 2}\n",
                "e.toml:2: federation.epochs: this range has no to, expected {from, to, steps}"},
        Mistake{"[run]\nseeds = {from = 0, to = 9, steps = 2, scale = \"log\"}\n",
                "e.toml:2: run.seeds runs from 0 to 9 on a log scale, expected two numbers above 0"},
        Mistake{"[[defence]]\nsigma = 1\n",
                "e.toml:2: defence.sigma means nothing here, expected it with kind = \"noise-per-step\" or "
                "\"noise-on-result\" or \"dpsgd\" or \"noised-embedding\" or \"dp-fedavg\" or \"dp-ftrl\""},
        Mistake{"[defence]\nkind = \"none\"\n", "e.toml:1: defence is a table, expected [[defence]]"},
        Mistake{"attack = []\n", "e.toml:1: attack is an empty list, expected at least one [[attack]]"},
        Mistake{"federation = 3\n", "e.toml:1: federation is 3, expected a table"},
        Mistake{"title = 3\n", "e.toml:1: title is 3, expected a text"},
        Mistake{"name = \"a/b\"\n",
                "e.toml: the name is \"a/b\", expected up to 80 letters, digits, '-', '_' and '.'"},
        Mistake{"[federation]\nepochs = 2024-01-01\n",
                "e.toml:2: a date or a time, expected a number, a text, true or false"},
        Mistake{"[[plot]]\nkind = \"pie\"\n",
                "e.toml:2: plot.kind is \"pie\", which is unknown; the nearest valid name is line"},
        Mistake{"[[plot]]\nkind = \"line\"\nx = \"federation.epoch\"\ny = \"f1\"\n",
                "e.toml:3: plot.x is \"federation.epoch\", which is unknown; the nearest valid name is "
                "federation.epochs"},
        Mistake{"[[plot]]\nkind = \"line\"\nx = \"run.size\"\n",
                "e.toml:1: plot.y is missing, which a line needs"}));

TEST_F(ExperimentFiles, WhatIsNotTomlIsToldWithItsLine) {
  EXPECT_EQ(complaint("[run]\nseeds = [1,\n\n[model]").substr(0, 16), "e.toml:4: not TO");
  EXPECT_EQ(complaint("\xff\xfe").substr(0, 18), "e.toml:1: not TOML");
  EXPECT_EQ(complaint("a = 1\na = 2\n").substr(0, 18), "e.toml:2: not TOML");
}

TEST_F(ExperimentFiles, SetsAreCheckedLikeTheFile) {
  EXPECT_EQ(
      complaint("", "", {"federation.epoch=3"}),
      "--set federation.epoch=3: federation.epoch: unknown key; the nearest valid key is federation.epochs");
  EXPECT_EQ(complaint("", "", {"epochs=3"}).substr(0, 39), "--set epochs=3: epochs: unknown key; th");
  EXPECT_EQ(complaint("", "", {"federation.epochs"}), "--set federation.epochs: expected KEY=VALUE");
  EXPECT_EQ(
      complaint("", "", {"federation.epochs=-1"}),
      "--set federation.epochs=-1: federation.epochs is -1, expected a whole number from 1 to 2147483647");
  EXPECT_EQ(complaint("", "", {"attack.7.method=best"}),
            "--set attack.7.method=best: there is no number \"7\", expected one from 0 to 0");
}

TEST_F(ExperimentFiles, AGridTooLargeIsRefusedAtOnce) {
  EXPECT_NE(
      complaint(
          "[run]\nseeds = {from = 0, to = 99999, steps = 100000}\nsizes = {from = 1, to = 1000, steps = "
          "1000}\n")
          .find("more than 1000000 combinations"),
      std::string::npos);
}

// What a cell may hold is what plots and reports may name.
TEST(Schema, NamesEveryValueOnce) {
  const std::vector<std::string> names = value_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_NE(std::ranges::find(names, "run.size"), names.end());
  for (const Section& section : sections())
    for (const Field& field : section.fields) EXPECT_FALSE(field.meaning.empty()) << field.name;
}

TEST_F(ExperimentFiles, TryManyDefencesInOneLine) {
  const ExperimentFile file = read(
      "[defences]\ntry = [\"dpsgd:sigma=0.5,clip=1\", \"clipping:clip=2 noise-on-result:sigma=0.1\"]\n"
      "[[plot]]\nkind = \"frontier\"\ny = \"f1\"\n");
  ASSERT_EQ(file.cells.size(), 3u);
  EXPECT_EQ(file.cells[0].at("defence").at("kind"), "none");
  EXPECT_EQ(file.cells[1].at("defence").at("kind"), "dpsgd");
  EXPECT_EQ(file.cells[1].at("defence").at("sigma"), 0.5);
  EXPECT_EQ(file.cells[2].at("defence").at("clip"), 2);
  EXPECT_EQ(file.cells[2].at("defence").at("with"), "noise-on-result:sigma=0.1");
  ASSERT_EQ(file.plots.size(), 1u);
  EXPECT_EQ(file.plots[0].x, "perplexity_after");
  EXPECT_EQ(file.plots[0].series, "defence.kind");
  EXPECT_GT(read("[defences]\ntry = \"all\"\n").cells.size(), 20u);
  EXPECT_GT(read("[defences]\ntry = \"all\"\nof = \"records\"\n").cells.size(), 20u);
}

TEST_F(ExperimentFiles, SayWhatIsWrongWithDefencesToTry) {
  EXPECT_EQ(complaint("[defences]\ntry = 3\n"),
            "e.toml:2: defences.try is 3, expected \"all\" or a list such as [\"dpsgd:sigma=0.5,clip=1\"]");
  EXPECT_NE(complaint("[defences]\ntry = [\"prayer\"]\n")
                .find("e.toml:2: defences.try: \"prayer\": no such defence"),
            std::string::npos);
  EXPECT_NE(
      complaint("[defences]\ntry = \"all\"\n[[defence]]\nkind = \"none\"\n").find("expected one of them"),
      std::string::npos);
  EXPECT_NE(complaint("[defences]\nof = \"mail\"\ntry = \"all\"\n")
                .find("expected keyboard, transformer or records"),
            std::string::npos);
}

}  // namespace
}  // namespace undertext
