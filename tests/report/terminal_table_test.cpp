#include "report/terminal_table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixture.h"
#include "lines.h"
#include "report/text_width.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(TerminalTable, ShowsOneRowWhole) {
  EXPECT_EQ(lines_of(terminal_table(fixture::smallest(), false, 0)).at(0),
            "attack          threat model         client  protocol  defence   recovered  exact  word F1  "
            "Levenshtein"
            "   perplexity");
  EXPECT_EQ(lines_of(terminal_table(fixture::smallest(), false, 0)).at(2),
            "sentences best  Curious server  16 messages  FedSGD    none     16 of 16 ✓  1.000    1.000     "
            "   100.0"
            "  31.2 → 30.9");
}

TEST(TerminalTable, HoldsEveryRowAndTheVerdict) {
  const json results = fixture::results();
  const std::string table = terminal_table(results, false, 0);
  std::size_t rows = 0, undefended = 0;
  for (const std::string& line : lines_of(table)) rows += contains(line, " → ");
  for (const json& row : results["rows"]) undefended += row["defence"]["kind"] == "none";
  EXPECT_EQ(rows, undefended) << "defences have a table of their own";
  EXPECT_TRUE(contains(table, "noise-on-the-result:sigma=0.3"));
  EXPECT_TRUE(contains(table, "reads 256 of 256 messages"));
  EXPECT_TRUE(contains(table, "✓ certified"));
}

TEST(TerminalTable, AlignsWhateverTheCharacters) {
  json results = fixture::smallest();
  json row = results["rows"][0];
  row["id"] = "wide";
  row["protocol"]["name"] = "連合学習é";
  row["protocol"]["epochs"] = 3;
  results["rows"].push_back(row);
  const auto lines = lines_of(terminal_table(results, false, 0));
  EXPECT_EQ(text_width(lines.at(0)), text_width(lines.at(2)));
  EXPECT_EQ(text_width(lines.at(2)), text_width(lines.at(3)));
}

TEST(TerminalTable, KeepsWithinTheTerminal) {
  for (const json& results : {fixture::results(), fixture::hostile_results()}) {
    for (const int width : {200, 132, 120, 110, 100, 80, 60, 40}) {
      for (const std::string& line : lines_of(terminal_table(results, false, width)))
        ASSERT_LE(text_width(line), width) << line;
    }
  }
}

TEST(TerminalTable, IsATableInAnUsualTerminal) {
  for (const int width : {80, 100, 120}) {
    const auto lines = lines_of(terminal_table(fixture::results(), false, width));
    EXPECT_TRUE(contains(lines.at(0), "client") && contains(lines.at(0), "perplexity")) << lines.at(0);
    // The threat model that all rows share moves below.
    EXPECT_FALSE(contains(lines.at(0), "threat"));
  }
  EXPECT_TRUE(
      contains(terminal_table(fixture::results(), false, 100), "threat model: Curious server (sees the"));
}

TEST(TerminalTable, KeepsTheThreatModelsApart) {
  json results = fixture::results();
  results["threat_models"].push_back(results["threat_models"][0]);
  results["threat_models"][1]["id"] = "other";
  results["threat_models"][1]["name"] = "Neighbour";
  results["rows"][0]["threat_model"] = "other";
  EXPECT_TRUE(contains(lines_of(terminal_table(results, false, 110)).at(2), "Neighbour"));
}

TEST(TerminalTable, ColoursOnlyWhenAsked) {
  EXPECT_FALSE(contains(terminal_table(fixture::results(), false, 100), "\033"));
  const std::string coloured = terminal_table(fixture::results(), true, 140);
  EXPECT_TRUE(contains(coloured, "\033[1;31m"));  // a leak
  // Without its codes it is the same table.
  std::string plain;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\033')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  }
  std::string trimmed;  // padding inside codes cannot be trimmed at the end of a line
  for (std::string line : lines_of(plain)) trimmed += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  EXPECT_EQ(trimmed, terminal_table(fixture::results(), false, 140));
}

TEST(TerminalTable, LetsNoTextReachTheTerminalRaw) {
  json results = fixture::smallest();
  results["threat_models"][0]["name"] = "Evil\x1b[2J\u202E\nserver";
  results["rows"][0]["protocol"]["name"] = "Fed\rAvg";
  const std::string table = terminal_table(results, false, 0);
  EXPECT_FALSE(contains(table, "\x1b"));
  EXPECT_FALSE(contains(table, "\r"));
  EXPECT_FALSE(contains(table, "\u202E"));
  EXPECT_TRUE(contains(table, "Evil\uFFFD[2J\uFFFD\uFFFDserver"));
}

TEST(TerminalTable, ShowsDashesForWhatIsNotDefined) {
  json results = fixture::smallest();
  for (const char* key : {"exact", "word_f1", "levenshtein_paper"})
    results["rows"][0]["scores"][key] = nullptr;
  results["rows"][0]["utility"]["perplexity_after"] = nullptr;
  const std::string row = lines_of(terminal_table(results, false, 0)).at(2);
  EXPECT_TRUE(row.ends_with("16 of 16 ✓      –        –            –           –")) << row;
}

TEST(TerminalTable, RefusesResultsThatAreNotWhole) {
  EXPECT_THROW(terminal_table(json::object(), false, 80), UserError);
}

}  // namespace
}  // namespace undertext
