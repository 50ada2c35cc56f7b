#include "report/experiment_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiment_fixture.h"
#include "fixture.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

json parsed(const std::vector<ReportedExperiment>& experiments) {
  const std::string page = experiment_page(experiments);
  EXPECT_LT(page.size(), kLargestPage);
  return json::parse(data_of(page));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

TEST(ExperimentPage, IsOneWholeFileThatAsksForNothing) {
  const std::string page = experiment_page(fixture::experiments());
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_LT(page.size(), kLargestPage);
  EXPECT_EQ(page, experiment_page(fixture::experiments()));
  for (const char* part : {" src=", "<link", "@import", "url(", "innerHTML"})
    EXPECT_EQ(occurrences(page, part), 0u) << part;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("{{scores}}"), std::string::npos);
}

TEST(ExperimentPage, CarriesCellsPairsWordsAndFailures) {
  const json data = parsed(fixture::experiments());
  ASSERT_EQ(data["experiments"].size(), 4u);
  const json& first = data["experiments"][0];
  EXPECT_EQ(first["counts"], (json{{"done", 149}, {"failed", 1}, {"pending", 0}}));
  EXPECT_EQ(first["labels"]["federation.epochs"], "epochs");
  EXPECT_EQ(first["cells"]["states"].get<std::string>().size(), 150u);
  EXPECT_EQ(first["cells"]["states"].get<std::string>()[77], 'f');
  EXPECT_EQ(first["cells"]["metrics"]["f1"][77], nullptr);
  ASSERT_EQ(first["failures"].size(), 1u);
  const std::size_t error = first["failures"][0]["error"];
  EXPECT_NE(data["texts"][error].get<std::string>().find("infinite"), std::string::npos);
  EXPECT_EQ(data["experiments"][1]["samples"].size(), 36u);
  EXPECT_EQ(data["experiments"][2]["words"][0]["words"].size(), 80u);
  EXPECT_EQ(data["counts"]["failed"], 1);
  for (const auto& [what, cut] : data["cut"].items()) EXPECT_FALSE(cut.get<bool>()) << what;
}

TEST(ExperimentPage, NeverRoundsToAll) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].metrics = {{"f1", 0.9999999}, {"matched", 99.999999}, {"perplexity_after", INFINITY}};
  const json metrics = parsed({experiment})["experiments"][0]["cells"]["metrics"];
  EXPECT_LT(metrics["f1"][0].get<double>(), 1);
  EXPECT_LT(metrics["matched"][0].get<double>(), 100);
  EXPECT_EQ(metrics["perplexity_after"][0], "Infinity");
}

TEST(ExperimentPage, HostileTextsStayInsideTheirElement) {
  const std::string tame = experiment_page(fixture::experiments());
  const std::string page = experiment_page(fixture::hostile_experiments());
  for (const char* part : {"<script", "</script", "<!--", "<img", "<b"})
    EXPECT_EQ(occurrences(page, part), occurrences(tame, part)) << part;
  for (const unsigned char c : data_of(page))
    ASSERT_TRUE(c >= 0x20 && c < 0x7F && c != '<' && c != '>' && c != '&');
  ReportedExperiment broken = fixture::small_experiment();
  broken.title = broken.axes[0] = broken.cells[0].texts = "broken \xff\xc3 text";
  EXPECT_EQ(parsed({broken})["experiments"][0]["title"], "broken \uFFFD\uFFFD text");
}

TEST(ExperimentPage, TenThousandCellsFitWithSomeOfTheirSamples) {
  const json data = parsed({fixture::large_experiment(10'000, 16, 16)});
  EXPECT_EQ(data["experiments"][0]["cells"]["states"].get<std::string>().size(), 10'000u);
  EXPECT_TRUE(data["cut"]["samples"].get<bool>());
  EXPECT_FALSE(data["cut"]["cells"].get<bool>());
  EXPECT_GT(data["experiments"][0]["samples"].size(), 50u);
  EXPECT_EQ(data["experiments"][0]["samples"][0]["total"], 16);
}

TEST(ExperimentPage, StaysSmallWhateverItIsGiven) {
  const json many = parsed({fixture::large_experiment(40'000, 0, 0)});
  EXPECT_TRUE(many["cut"]["cells"].get<bool>());
  EXPECT_EQ(many["counts"]["done"], 40'000);  // counts are of all cells
  EXPECT_GT(many["experiments"][0]["cells"]["states"].get<std::string>().size(), 5'000u);

  ReportedExperiment failing = fixture::large_experiment(3'000, 0, 0);
  for (std::size_t i = 0; i < failing.cells.size(); ++i) {
    failing.cells[i].state = CellState::failed;
    failing.cells[i].error = std::string(5'000, 'x') + std::to_string(i);
  }
  EXPECT_EQ(parsed({failing})["counts"]["failed"], 3'000);

  ReportedExperiment wordy = fixture::small_experiment();
  wordy.axes = {std::string(3'000'000, 'a')};  // a name is never cut: the experiment is left out
  const json data = parsed({fixture::small_experiment(), wordy});
  EXPECT_EQ(data["experiments"].size(), 1u);
  EXPECT_EQ(data["all_experiments"], 2);
}

TEST(ExperimentPage, KeepsSeedsThatABrowserCannotCount) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(parsed({experiment})["experiments"][0]["cells"]["seeds"]["list"][0], "18446744073709551615");
}

TEST(ExperimentPage, NothingAtAllIsAPageToo) {
  EXPECT_EQ(parsed({})["all_experiments"], 0);
  EXPECT_EQ(parsed({ReportedExperiment{}})["experiments"].size(), 1u);
}

}  // namespace
}  // namespace undertext
