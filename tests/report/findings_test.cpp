#include "report/findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "lines.h"
#include "report/advice.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string fact(const Advice& advice, const std::string& name) {
  for (const auto& [term, text] : advice.facts)
    if (term == name) return text;
  return "";
}

// The smallest results with `exact` of 16 messages, and a second row of the same client under a defence.
json with_defence(double sigma, double exact_after, double perplexity_after) {
  json all = fixture::smallest();
  json row = all["rows"][0];
  row["id"] = "defended";
  row["defence"] = {{"name", "noise per step"}, {"sigma", sigma}};
  row["scores"]["exact"] = exact_after;
  row["certified"] = false;
  row["utility"]["perplexity_after"] = perplexity_after;
  all["rows"][0]["utility"]["perplexity_after"] = 30.0;
  all["rows"].push_back(row);
  return all;
}

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

TEST(Advice, ComparesTheSameClientWithAndWithout) {
  const auto effects = defence_effects(parse_results(with_defence(0.1, 0.25, 33.0)));
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].cases, 1);
  EXPECT_DOUBLE_EQ(effects[0].mean_before, 1.0);
  EXPECT_DOUBLE_EQ(effects[0].mean_after, 0.25);
  EXPECT_EQ(effects[0].worst_case, "16 messages, FedSGD");
  EXPECT_NEAR(*effects[0].cost(), 0.1, 1e-12);
  EXPECT_EQ(cost_text(effects[0]), "perplexity +10% (30.0 to 33.0)");
  EXPECT_FALSE(effects[0].protects());
}

TEST(Advice, GivesTheNumbers) {
  const Advice advice = advice_of(parse_results(with_defence(0.1, 0.25, 33.0))).at(0);
  EXPECT_EQ(advice.title, "Noise per step, σ=0.1");
  EXPECT_EQ(fact(advice, "read word for word, mean"), "100% → 25% (1 update)");
  EXPECT_EQ(fact(advice, "read word for word, at worst"), "100% → 25% (16 messages, FedSGD)");
  EXPECT_EQ(fact(advice, "cost"), "perplexity +10% (30.0 to 33.0)");
}

TEST(Advice, GradesByTheWorstCase) {
  const auto grade = [](double after) {
    return advice_of(parse_results(with_defence(0.1, after, 33.0))).at(0).grade;
  };
  EXPECT_EQ(grade(1.0), "does not help");
  EXPECT_EQ(grade(0.75), "does not help");
  EXPECT_EQ(grade(0.5), "weakens");
  EXPECT_EQ(grade(0.0625), "weakens");
  EXPECT_EQ(grade(0.0), "protects");
}

TEST(Advice, IgnoresADefenceOnAnotherClient) {
  json all = with_defence(0.1, 0.0, 33.0);
  all["rows"][1]["messages"] = 64;
  const Results results = parse_results(all);
  EXPECT_TRUE(defence_effects(results).empty());
  EXPECT_EQ(headline_advice(results), "No defence was tried on these clients.");
}

TEST(Advice, NamesTheCheapestThatProtects) {
  json all = with_defence(1.0, 0.0, 60.0);
  json cheaper = all["rows"][1];
  cheaper["id"] = "cheaper";
  cheaper["defence"]["sigma"] = 0.5;
  cheaper["utility"]["perplexity_after"] = 45.0;
  all["rows"].push_back(cheaper);
  EXPECT_EQ(headline_advice(parse_results(all)),
            "Of the defences tried, the cheapest that protects is noise per step, σ=0.5: at most 0% of the "
            "messages, perplexity +50% (30.0 to 45.0).");
  EXPECT_EQ(
      headline_advice(parse_results(with_defence(0.1, 0.75, 30.0))),
      "None of the defences tried protects: under the strongest, noise per step, σ=0.1, still 75% of the "
      "messages, perplexity unchanged (30.0 to 30.0).");
}

TEST(Advice, SaysWhenUtilityWasNotMeasured) {
  json all = with_defence(1.0, 0.0, 60.0);
  all["rows"][1]["utility"]["perplexity_after"] = nullptr;
  EXPECT_EQ(fact(advice_of(parse_results(all)).at(0), "cost"), "utility not measured");
}

TEST(Advice, OnSizeAndLocalTrainingByThemselves) {
  const auto advice = advice_of(parse_results(fixture::results()));
  const auto size = std::ranges::find(advice, "More messages in one update", &Advice::title);
  ASSERT_NE(size, advice.end());
  EXPECT_EQ(size->grade, "does not help");
  EXPECT_EQ(fact(*size, "16 messages, no defence"), "100% read word for word");
  EXPECT_EQ(fact(*size, "256 messages, no defence"), "97% to 100% read word for word");
  const auto training = std::ranges::find(advice, "More local training", &Advice::title);
  ASSERT_NE(training, advice.end());
  EXPECT_EQ(fact(*training, "FedSGD, no defence"), "100% read word for word");
  EXPECT_NE(fact(*training, "1 epoch, no defence"), "");
}

}  // namespace
}  // namespace undertext
