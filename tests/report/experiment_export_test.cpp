#include "report/experiment_export.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "experiment_fixture.h"
#include "fixture.h"

namespace undertext {
namespace {

using nlohmann::json;

// A reader of RFC 4180, written apart from the writer.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (inside && text[i + 1] == '"')
        rows.back().back() += text[i++];
      else
        inside = !inside;
    } else if (!inside && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!inside && text[i] == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

std::map<std::string, std::string> record(const std::vector<std::vector<std::string>>& rows,
                                          std::size_t index) {
  std::map<std::string, std::string> fields;
  for (std::size_t c = 0; c < rows[0].size(); ++c) fields[rows[0][c]] = rows.at(index).at(c);
  return fields;
}

std::vector<json> parse_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<json> objects;
  for (std::string line; std::getline(stream, line);) objects.push_back(json::parse(line));
  return objects;
}

TEST(ExperimentCsv, HasOneRowPerCell) {
  const auto rows = parse_csv(experiment_csv({fixture::small_experiment()}));
  EXPECT_EQ(rows[0], (std::vector<std::string>{"experiment", "key", "state", "error", "federation.epochs",
                                               "client.messages", "seed", "texts", "f1", "seconds",
                                               "peak_memory", "version", "host"}));
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[1],
            (std::vector<std::string>{"small", "one-0", "done", "", "1", "16", "1", "messages.txt, client 1",
                                      "0.8", "2", "1500000000", "0.1.0", "node-1"}));
  EXPECT_EQ(record(rows, 4)["state"], "failed");
  EXPECT_EQ(record(rows, 4)["error"], "it broke");
  EXPECT_EQ(record(rows, 4)["f1"], "");
  EXPECT_EQ(record(rows, 6)["state"], "pending");
  EXPECT_EQ(record(rows, 6)["f1"], "");  // whatever a cell holds that is not done
  EXPECT_EQ(record(rows, 6)["seconds"], "");
}

TEST(ExperimentCsv, QuotesWhatNeedsIt) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].texts = "a \"b\", c\nd";
  const std::string text = experiment_csv({experiment});
  EXPECT_NE(text.find(",\"a \"\"b\"\", c\nd\","), std::string::npos);
  EXPECT_EQ(record(parse_csv(text), 1)["texts"], "a \"b\", c\nd");
}

TEST(ExperimentCsv, HoldsNoFormula) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.axes = {"=axis"};
  experiment.settings = {{"rate", -0.5}, {"bad", "+1"}};
  const std::vector<std::string> texts = {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "fine"};
  for (std::size_t i = 0; i < texts.size(); ++i) experiment.cells[i].values = {texts[i]};
  experiment.cells[0].metrics = {{"f1", -0.5}};
  const auto rows = parse_csv(experiment_csv({experiment}));
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) EXPECT_EQ(record(rows, i + 1)["'=axis"], "'" + texts[i]);
  EXPECT_EQ(record(rows, 6)["'=axis"], "fine");
  EXPECT_EQ(record(rows, 1)["bad"], "'+1");
  EXPECT_EQ(record(rows, 1)["rate"], "-0.5");  // a number stays one
  EXPECT_EQ(record(rows, 1)["f1"], "-0.5");
}

TEST(ExperimentCsv, PutsSeveralExperimentsIntoOneTable) {
  const auto experiments = fixture::experiments();
  const auto rows = parse_csv(experiment_csv(experiments));
  std::size_t cells = 0;
  for (const auto& experiment : experiments) cells += experiment.cells.size();
  ASSERT_EQ(rows.size(), cells + 1);
  for (const auto& row : rows) ASSERT_EQ(row.size(), rows[0].size());
  // An axis here, a setting there: one column.
  EXPECT_EQ(record(rows, 1)["client.messages"], "16");
  EXPECT_EQ(record(rows, cells)["client.messages"], "64");
}

TEST(ExperimentCsv, GivesEachColumnItsOwnName) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.axes = {"f1"};
  experiment.settings = {{"seed", 5}};
  const auto rows = parse_csv(experiment_csv({experiment}));
  EXPECT_EQ(record(rows, 1)["value.f1"], "1");
  EXPECT_EQ(record(rows, 1)["f1"], "0.8");
  EXPECT_EQ(record(rows, 1)["value.seed"], "5");
  EXPECT_EQ(record(rows, 1)["seed"], "1");
}

TEST(ExperimentCsv, TakesHostileTexts) {
  const auto experiments = fixture::hostile_experiments();
  const auto rows = parse_csv(experiment_csv(experiments));
  for (const auto& row : rows) ASSERT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(record(rows, 1)["key"], fixture::hostile_texts()[0]);
}

TEST(ExperimentJsonLines, HoldEverything) {
  const auto experiments = fixture::experiments();
  const auto objects = parse_lines(experiment_json_lines(experiments));
  const std::size_t first = experiments[0].cells.size();
  const json& sentences = objects.at(first);
  EXPECT_EQ(sentences["experiment"], "gboard-figure-3");
  EXPECT_EQ(sentences["values"]["client.messages"], 16);
  EXPECT_EQ(sentences["settings"]["attack.name"], "sentences");
  EXPECT_EQ(sentences["pairs"].size(), 10u);
  EXPECT_EQ(sentences["pairs"][0]["truth"], "see you at six");
  EXPECT_EQ(sentences["all_pairs"], 16);
  EXPECT_EQ(sentences["error"], nullptr);
  const json& words = objects.at(first + experiments[1].cells.size());
  EXPECT_EQ(words["words"].size(), 80u);
  EXPECT_TRUE(words["words"][0]["typed"].get<bool>());
  const json& failed = objects.at(77);
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_NE(failed["error"].get<std::string>().find("infinite"), std::string::npos);
  EXPECT_EQ(failed["metrics"], json::object());
  EXPECT_EQ(objects.back()["state"], "pending");
  EXPECT_EQ(objects.back()["seconds"], nullptr);
}

TEST(ExperimentJsonLines, KeepLargeSeedsAndNumbersThatJsonHasNot) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].seed = 18446744073709551615u;
  experiment.cells[0].metrics = {{"perplexity_after", INFINITY}};
  experiment.cells[0].texts = "broken \xff";
  const json object = parse_lines(experiment_json_lines({experiment}))[0];
  EXPECT_EQ(object["seed"], 18446744073709551615u);
  EXPECT_EQ(object["metrics"]["perplexity_after"], "Infinity");
  EXPECT_EQ(object["texts"], "broken \uFFFD");
}

TEST(ExperimentJsonLines, OneLinePerCellWhateverTheTexts) {
  const auto experiments = fixture::hostile_experiments();
  std::size_t cells = 0;
  for (const auto& experiment : experiments) cells += experiment.cells.size();
  EXPECT_EQ(parse_lines(experiment_json_lines(experiments)).size(), cells);
}

}  // namespace
}  // namespace undertext
