// The report of an audit whose clients hold sequences: two servers beside each other, tokens in their place.
#include <gtest/gtest.h>

#include "browser.h"
#include "fixture.h"
#include "lines.h"
#include "report/advice.h"
#include "report/findings.h"
#include "report/html_page.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

using nlohmann::json;

// A malicious server's best and published attack, with noise beside, and TAG by a curious one.
json sequences() {
  json all = fixture::smallest();
  all["preset"] = "transformer";
  json malicious = all["threat_models"][0];
  malicious["id"] = "malicious";
  malicious["name"] = "Malicious server";
  malicious["sees"] = "the weights that it made up and one client's update";
  all["threat_models"].push_back(malicious);
  const json row = all["rows"][0];
  const std::string first = row["id"];
  all["rows"] = json::array();
  const auto add = [&](const std::string& id, const char* method, const char* threat, double place,
                       double exact, double sigma) {
    json made = row;
    made["id"] = id;
    made["method"] = method;
    made["threat_model"] = threat;
    made["scores"]["total_accuracy"] = place;
    made["scores"]["exact"] = exact;
    made["certified"] = nullptr;
    if (sigma > 0) made["defence"] = fixture::defence("noise", sigma);
    all["rows"].push_back(made);
  };
  const std::string curious = row["threat_model"];
  add(first, "best", "malicious", 0.75, 0.5, 0);
  add("paper", "paper", "malicious", 0.5, 0, 0);
  add("noise", "best", "malicious", 0.04, 0, 0.1);
  add("tag", "tag", curious.c_str(), 0.125, 0, 0);
  return all;
}

TEST(SequenceResults, AreJudgedByTokensInTheirPlace) {
  const Results results = parse_results(sequences());
  ASSERT_TRUE(results.of_sequences());
  const Findings findings = findings_of(results);
  EXPECT_EQ(
      findings.verdict,
      "A malicious server that sees the weights that it made up and one client's update reads 75% of the "
      "tokens in their place, and 8 of 16 sequences whole.");
  EXPECT_EQ(findings.figures[0].value, "75%");
  EXPECT_EQ(findings.figures[1].value, "50%") << "the published attack";
  EXPECT_EQ(findings.figures[2].value, "13%") << "the curious server";
  const auto cheapest = cheapest_protection(results, "malicious");
  ASSERT_TRUE(cheapest);
  EXPECT_DOUBLE_EQ(cheapest->read.worst_before, 0.75);
  EXPECT_DOUBLE_EQ(cheapest->read.worst_after, 0.04);
  EXPECT_TRUE(contains(headline_advice(results), "at most 4% of the tokens"));
}

TEST(SequenceResults, WithoutTokensAreMessages) {
  EXPECT_FALSE(parse_results(fixture::results()).of_sequences());
}

TEST(SequenceResults, HaveAColumnForPlaces) {
  const std::string table = terminal_table(sequences(), false, 0);
  EXPECT_TRUE(contains(table, "in place"));
  EXPECT_FALSE(contains(table, "Levenshtein"));
  EXPECT_TRUE(contains(table, "16 sequences"));
  EXPECT_TRUE(contains(table, "sentences tag"));
  EXPECT_FALSE(contains(terminal_table(fixture::results(), false, 0), "in place"));
}

TEST(SequenceResults, RefuseAShareThatIsNone) {
  json all = sequences();
  all["rows"][0]["scores"]["total_accuracy"] = 1.5;
  EXPECT_THROW(parse_results(all), std::exception);
}

class SequencePage : public BrowserTest {};

TEST_F(SequencePage, SpeaksOfSequences) {
  const Visit visit = open(html_page(sequences()));
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, std::vector<std::string>());
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_EQ(count(body, "data-drawn=\"[1-9][0-9]{3,}\""), 2) << "places by size, and the frontier";
  EXPECT_EQ(count(body, "id=\"chart-epochs\""), 0);
  EXPECT_NE(body.find("In place"), std::string::npos);
  EXPECT_NE(body.find("8 of 16</strong> sequences whole, 0.750 of the tokens in their place"),
            std::string::npos);
  EXPECT_NE(body.find("tokens can be read in their place"), std::string::npos);
  EXPECT_EQ(body.find("Suliman"), std::string::npos);
}

TEST_F(SequencePage, OfMessagesIsAsItWas) {
  const std::string body = built(open(html_page(fixture::results())));
  EXPECT_EQ(count(body, "id=\"chart-sizes\""), 0);
  EXPECT_EQ(body.find("Malicious"), std::string::npos);
  EXPECT_EQ(body.find("In place</"), std::string::npos);
  EXPECT_NE(body.find("Suliman"), std::string::npos);
}

}  // namespace
}  // namespace undertext
