// The audit's page in a real browser: what it builds, draws, filters and logs.
#include "browser.h"

#include <gtest/gtest.h>

#include <regex>

#include "fixture.h"
#include "report/html_page.h"

namespace undertext {
namespace {

using nlohmann::json;

class Browser : public BrowserTest {};

TEST_F(Browser, BuildsThePageAndDrawsTheCharts) {
  const Visit visit = open(html_page(fixture::results()));
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_EQ(count(body, "data-drawn=\"[1-9][0-9]{3,}\""), 3);
  EXPECT_EQ(count(body, "<tr data-id="), static_cast<int>(fixture::results()["rows"].size()));
  EXPECT_NE(body.find("reads 256 of 256 messages word for word."), std::string::npos);
  EXPECT_EQ(count(body, "✓ exact</span></td>"), 12);  // the first of the strongest row
  EXPECT_NE(body.find("Show all 256"), std::string::npos);
  EXPECT_EQ(count(body, "<details>"), 3);
  EXPECT_EQ(count(body, "<h1"), 1);
}

TEST_F(Browser, ShowsTheDefences) {
  const Visit visit = open(html_page(fixture::results()), "#leak-0=words&d0-sort=worst&d0-order=down");
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_EQ(count(body, "id=\"chart-frontier-0\""), 1);
  EXPECT_NE(body.find("Leak and cost: words (F1)"), std::string::npos)
      << "the leak that the address asks for";
  EXPECT_EQ(count(body, "<tr data-spec="), 7);  // four strengths of noise per step, three on the result
  EXPECT_NE(body.find("<code>noise-per-step:sigma=0.3</code>"), std::string::npos);
  EXPECT_NE(body.find("Without a defence a curious server reads 100%"), std::string::npos);
  EXPECT_EQ(count(body, "<tr class=\"impossible\">"), 1);
  EXPECT_NE(body.find("(3.2, 1e-05)-differentially private"), std::string::npos);
  EXPECT_EQ(body.find("not adaptive</span>"), std::string::npos);
}

TEST_F(Browser, MarksAttacksThatWereNotToldOfTheDefence) {
  json results = fixture::results();
  for (json& row : results["rows"])
    if (row["defence"]["kind"] == "noise-on-the-result") row["told"] = nullptr;
  const std::string body = built(open(html_page(results)));
  EXPECT_EQ(count(body, "not adaptive</span>"), 3);
  EXPECT_EQ(count(body, "\\(not adaptive\\)</td>"), 3 * 15) << "each row of the table of all attacks";
}

TEST_F(Browser, AppliesTheViewOfTheAddress) {
  const json results = fixture::results();
  int words_of_64 = 0;
  for (const json& row : results["rows"]) words_of_64 += row["attack"] == "words" && row["messages"] == 64;
  const Visit visit =
      open(html_page(results),
           "#attack=words&size=64&sort=f1&order=down&messages=n16-FedAvg10-none0.000000-sentences-paper");
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(body.find("data-shown=\"" + std::to_string(words_of_64) + "\""), std::string::npos);
  EXPECT_EQ(count(body, "<tr data-id=\"n64-[^\"]*-words-"), words_of_64);
  EXPECT_EQ(count(body, "<tr data-id="), words_of_64);
  EXPECT_EQ(count(body, "aria-sort=\"descending\""), 1);
  EXPECT_NE(body.find("data-row=\"n16-FedAvg10-none0.000000-sentences-paper\""), std::string::npos);

  // Largest first.
  std::vector<double> shown;
  const std::regex bar("class=\"number bar\" style=\"--share: ?([0-9.e-]+)");
  const std::string table = body.substr(body.find("<table id=\"table\""));
  for (std::sregex_iterator match(table.begin(), table.end(), bar), end; match != end; ++match)
    shown.push_back(std::stod((*match)[1]));
  EXPECT_EQ(static_cast<int>(shown.size()), words_of_64);
  EXPECT_TRUE(std::is_sorted(shown.rbegin(), shown.rend()));
}

TEST_F(Browser, IgnoresAViewThatMeansNothing) {
  const Visit visit =
      open(html_page(fixture::smallest()), "#attack=magic&sort=toString&messages=__proto__&noise=x");
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(visit.dom.find("data-shown=\"1\""), std::string::npos);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
}

TEST_F(Browser, RunsNoHostileText) {
  const Visit visit = open(html_page(fixture::hostile_results()));
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_EQ(visit.dom.find("data-hacked"), std::string::npos);
  const std::string body = built(visit);
  EXPECT_EQ(count(body, "<img"), 0);
  EXPECT_NE(body.find("&lt;/script&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(body.find("nul␀bell␇"), std::string::npos);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
}

TEST_F(Browser, MarksTheWordsThatStandInBoth) {
  json results = fixture::smallest();
  json& pairs = results["samples"][0]["pairs"];
  pairs = json::array(
      {{{"truth", "see you at six"}, {"recovered", "you see at ten"}, {"exact", false}, {"ratio", 50.0}},
       {{"truth", "good night"}, {"recovered", nullptr}, {"exact", false}, {"ratio", 0.0}},
       {{"truth", nullptr}, {"recovered", "good day"}, {"exact", false}, {"ratio", 0.0}}});
  const std::string body = built(open(html_page(results)));
  const std::size_t table = body.find("<table class=\"pairs\"");
  const std::string shown = body.substr(table, body.find("</table>", table) - table);
  // "you" and "at", which stand together on the left and apart on the right.
  EXPECT_EQ(count(shown, "<mark class=\"run\">"), 3);
  EXPECT_EQ(count(shown, "<mark class=\"run\">you at</mark> <span class=\"run other\">six</span>"), 1);
  EXPECT_EQ(count(shown,
                  "<mark class=\"run\">you</mark> <span class=\"run other\">see</span> "
                  "<mark class=\"run\">at</mark>"),
            1);
  EXPECT_EQ(count(shown, "✗ missed"), 1);
  EXPECT_EQ(count(shown, "✗ invented"), 1);
  EXPECT_EQ(count(shown, "≈ 50.0 of 100"), 1);
}

TEST_F(Browser, KeepsItsTablesWithoutTheChartLibrary) {
  const Visit visit = open(without_charts(html_page(fixture::results())));
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_EQ(count(body, "could not be drawn"), 3);
  EXPECT_EQ(count(body, "<details open"), 3);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_GT(count(body, "<tr data-id="), 100);
}

TEST_F(Browser, DrawsWhateverResultsHold) {
  json bare = fixture::smallest();
  bare["samples"] = json::array();
  for (auto& [key, score] : bare["rows"][0]["scores"].items()) score = nullptr;
  bare["rows"][0]["utility"] = {{"perplexity_before", nullptr}, {"perplexity_after", nullptr}};
  bare["model"]["perplexity"] = nullptr;
  const Visit visit = open(html_page(bare));
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_NE(visit.dom.find("no sample messages"), std::string::npos);
}

}  // namespace
}  // namespace undertext
