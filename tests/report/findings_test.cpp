#include "report/findings.h"

#include <gtest/gtest.h>

#include "fixture.h"
#include "lines.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(Verdict, SaysWhoReadsHowMuch) {
  json all = fixture::smallest();
  EXPECT_EQ(
      findings_of(parse_results(all)).verdict,
      "A curious server that sees the global model and one client's update reads 16 of 16 messages word "
      "for word.");
  all["rows"][0]["scores"]["exact"] = 0;
  EXPECT_TRUE(contains(findings_of(parse_results(all)).verdict, "reads none of 16 messages word for word."));
  all["threat_models"][0]["name"] = "Eavesdropper";
  EXPECT_TRUE(findings_of(parse_results(all)).verdict.starts_with("An eavesdropper that sees "));
  all["threat_models"][0]["name"] = "";
  EXPECT_TRUE(findings_of(parse_results(all)).verdict.starts_with("An adversary that sees "));
}

TEST(Verdict, SpeaksOfWordsWhenNoSentencesWereAttacked) {
  json all = fixture::smallest();
  json& row = all["rows"][0];
  row["attack"] = "words";
  row["scores"] = {{"f1", 0.985}, {"precision", 1.0}, {"recall", 0.97}};
  all["samples"] = json::array();
  EXPECT_TRUE(contains(findings_of(parse_results(all)).verdict,
                       "learns 97% of the words that were typed, and 100% of the words it lists are right."));
}

TEST(Verdict, RestsOnTheLargestLeakThatNeedsNoTruth) {
  json all = fixture::smallest();
  all["rows"][0]["scores"]["exact"] = 0.5;
  json oracle = all["rows"][0];
  oracle["id"] = "oracle";
  oracle["oracle"] = true;
  oracle["scores"]["exact"] = 1.0;
  json larger = all["rows"][0];
  larger["id"] = "larger";
  larger["messages"] = larger["truth"] = 64;
  all["rows"].push_back(oracle);
  all["rows"].push_back(larger);
  const Results results = parse_results(all);
  EXPECT_EQ(strongest_row(results).id, "larger");
  EXPECT_TRUE(contains(findings_of(results).verdict, "reads 32 of 64 messages"));
}

TEST(Findings, OfAWholeAudit) {
  const Findings findings = findings_of(parse_results(fixture::results()));
  EXPECT_TRUE(contains(findings.verdict, "reads 256 of 256 messages word for word."));
  ASSERT_EQ(findings.lead.size(), 3u);
  EXPECT_EQ(findings.lead[0], "The strongest case: 256 messages, FedSGD, no defence.");
  EXPECT_TRUE(contains(findings.lead[1], "certain"));
  ASSERT_GE(findings.figures.size(), 5u);
  EXPECT_EQ(findings.figures[0].value, "256 of 256");
  EXPECT_EQ(findings.figures[1].label, "by the published attack");
  EXPECT_EQ(findings.figures[1].value, "77 of 256");  // .75 - .45 of 256
}

TEST(Findings, ClaimNoCertificateWhereThereIsNone) {
  json all = fixture::smallest();
  all["rows"][0]["certified"] = false;
  for (const std::string& sentence : findings_of(parse_results(all)).lead)
    EXPECT_FALSE(contains(sentence, "certain")) << sentence;
}

}  // namespace
}  // namespace undertext
