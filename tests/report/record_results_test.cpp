// The report of an audit of records: a client reads what others' texts hold, under some defences.
#include <gtest/gtest.h>

#include "base/error.h"
#include "browser.h"
#include "fixture.h"
#include "report/advice.h"
#include "report/findings.h"
#include "report/html_page.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

using nlohmann::json;

// Three of four records by the best method, one by eavesdropping, none under noise.
json records() {
  json all = fixture::smallest();
  all["preset"] = "records";
  all["threat_models"][0]["name"] = "Curious client";
  all["threat_models"][0]["sees"] = "the global model after every round";
  const json row = all["rows"][0];
  const std::string first = row["id"];
  all["rows"] = json::array();
  const auto add = [&](const std::string& id, const char* method, double exact, double sigma) {
    json made = row;
    made["id"] = id;
    made["attack"] = "records";
    made["method"] = method;
    made["truth"] = 4;
    made["messages"] = 4;
    made["certified"] = nullptr;
    made["scores"] = {{"exact", exact}, {"top_50", 1}, {"edits", 2.5}, {"owners", nullptr}};
    if (sigma > 0) made["defence"] = fixture::defence("noise", sigma);
    all["rows"].push_back(made);
  };
  add(first, "best", 0.75, 0);
  add("eavesdrop", "eavesdrop", 0.25, 0);
  add("noise", "best", 0, 1);
  all["curves"] = {{{"title", "Correlation"}, {"owner", 1}, {"clients", {{-0.5, 0.25}, {0.5, 1}}}}};
  return all;
}

TEST(RecordResults, SayHowManyRecordsWereReadAndByWhom) {
  const Results results = parse_results(records());
  ASSERT_TRUE(results.of_records());
  const Findings findings = findings_of(results);
  EXPECT_EQ(findings.verdict,
            "A curious client that sees the global model after every round reads 3 of 4 records of other "
            "clients, each with its owner.");
  EXPECT_EQ(findings.figures[0].value, "3 of 4");
  EXPECT_EQ(findings.figures[1].value, "1 of 4") << "eavesdropping as published";
  const auto cheapest = cheapest_protection(results, results.rows[0].threat_model);
  ASSERT_TRUE(cheapest);
  EXPECT_EQ(cheapest->defence.strength, std::optional(1.0));
}

TEST(RecordResults, StandInTheTable) {
  const std::string table = terminal_table(records(), false, 140);
  for (const char* part : {"records best", "top 50", "edits", "2.5", "4 records"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
}

TEST(RecordResults, RefuseCurvesThatAreNone) {
  json all = records();
  all["curves"][0]["clients"][0][0] = 1.5;
  EXPECT_THROW(parse_results(all), UserError);
}

class RecordPage : public BrowserTest {};

TEST_F(RecordPage, DrawsTheCurvesAndSpeaksOfRecords) {
  const Visit visit = open(html_page(records()));
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_EQ(count(body, "data-drawn=\"[1-9][0-9]{3,}\""), 2) << "the curves and the frontier";
  EXPECT_NE(body.find("client 1, the owner"), std::string::npos);
  EXPECT_NE(body.find("3 of 4</strong> records by the first guess"), std::string::npos);
  EXPECT_NE(body.find("Secret Sharer"), std::string::npos);
  EXPECT_EQ(body.find("Suliman"), std::string::npos);
}

}  // namespace
}  // namespace undertext
