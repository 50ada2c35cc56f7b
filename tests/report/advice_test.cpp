// What the report says of defences: what they stop, what they cost, which to choose.
#include "report/advice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "lines.h"
#include "report/defence_section.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string fact(const Advice& advice, const std::string& name) {
  for (const auto& [term, text] : advice.facts)
    if (term == name) return text;
  return "";
}

// One client that is read whole without a defence.
json undefended() {
  json all = fixture::smallest();
  all["rows"][0]["utility"]["perplexity_after"] = 30.0;
  return all;
}

// Adds the same client under noise of this strength.
json& add(json& all, double sigma, double exact_after, double perplexity_after) {
  json row = all["rows"][0];
  row["id"] = "defended " + std::to_string(all["rows"].size());
  row["defence"] = fixture::defence("noise per step", sigma);
  row["told"] = "the deviation";
  row["scores"]["exact"] = exact_after;
  row["certified"] = false;
  row["utility"]["perplexity_after"] = perplexity_after;
  row["training_seconds"] = 0.5;
  all["rows"].push_back(row);
  return all["rows"].back();
}

json with_defence(double sigma, double exact_after, double perplexity_after) {
  json all = undefended();
  add(all, sigma, exact_after, perplexity_after);
  return all;
}

// The set of words of the same client.
json& add_words(json& all, const json& like, double f1, double chance) {
  json row = like;
  row["id"] = like["id"].get<std::string>() + " words";
  row["attack"] = "words";
  row["certified"] = nullptr;
  row["chance"] = chance;
  row["scores"] = {{"f1", f1}, {"precision", f1}, {"recall", f1}};
  all["rows"].push_back(row);
  return all["rows"].back();
}

std::vector<DefenceEffect> effects_of(const json& all) {
  return defence_effects(parse_results(all), "curious-server");
}

std::string verdict_of(const json& all) {
  const ThreatVerdict verdict = verdicts_of(parse_results(all)).at(0);
  std::string text;
  for (const std::string& sentence : verdict.sentences) text += sentence + " ";
  return text;
}

TEST(DefenceEffects, CompareTheSameClientWithAndWithout) {
  const auto effects = effects_of(with_defence(0.1, 0.25, 33.0));
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].read.cases, 1);
  EXPECT_DOUBLE_EQ(effects[0].read.mean_before, 1.0);
  EXPECT_DOUBLE_EQ(effects[0].read.mean_after, 0.25);
  EXPECT_EQ(effects[0].read.worst_case, "16 messages, FedSGD");
  EXPECT_NEAR(*effects[0].cost(), 0.1, 1e-12);
  EXPECT_EQ(cost_text(effects[0]), "perplexity +10% (30.0 to 33.0)");
  EXPECT_FALSE(effects[0].read.protects());
  EXPECT_DOUBLE_EQ(effects[0].slowdown.value(), 2.5);
  EXPECT_TRUE(effects[0].adaptive);
  EXPECT_EQ(effects[0].told, "the deviation");
}

TEST(DefenceEffects, AreGradedByTheWorstCase) {
  const auto grade = [](double after) {
    return effects_of(with_defence(0.1, after, 33.0)).at(0).read.grade();
  };
  EXPECT_EQ(grade(1.0), "does not help");
  EXPECT_EQ(grade(0.75), "does not help");
  EXPECT_EQ(grade(0.5), "weakens");
  EXPECT_EQ(grade(0.0625), "weakens");
  EXPECT_EQ(grade(0.0), "protects");
}

TEST(DefenceEffects, AreNotOfAnotherClient) {
  json all = with_defence(0.1, 0.0, 33.0);
  all["rows"][1]["messages"] = 64;
  EXPECT_TRUE(effects_of(all).empty());
  EXPECT_EQ(headline_advice(parse_results(all)), "No defence was tried on these clients.");
}

// The published attack under a defence says nothing when it was ours that read the messages without.
TEST(DefenceEffects, DoNotCountWhereTheStrongestMethodWasNotTried) {
  json all = with_defence(0.1, 0.0, 33.0);
  all["rows"][1]["method"] = "paper";
  EXPECT_TRUE(effects_of(all).empty());
  json both = with_defence(0.1, 0.5, 33.0);
  json paper = both["rows"][1];
  paper["id"] = "paper";
  paper["method"] = "paper";
  paper["scores"]["exact"] = 0.75;
  both["rows"].push_back(paper);
  EXPECT_DOUBLE_EQ(effects_of(both).at(0).read.worst_after, 0.75) << "the strongest of both";
  both["rows"].back()["oracle"] = true;
  EXPECT_DOUBLE_EQ(effects_of(both).at(0).read.worst_after, 0.5) << "an oracle is no attack";
}

TEST(DefenceEffects, SayWhereAnAttackWasNotTold) {
  json all = with_defence(0.1, 0.0, 33.0);
  all["rows"][1]["told"] = nullptr;
  EXPECT_FALSE(effects_of(all).at(0).adaptive);
  EXPECT_TRUE(contains(verdict_of(all), "as if there were none: noise per step."));
  EXPECT_TRUE(contains(terminal_table(all, false, 0), "not adaptive"));
  EXPECT_FALSE(contains(verdict_of(with_defence(0.1, 0.0, 33.0)), "as if there were none"));
}

TEST(DefenceEffects, AllowOfWordsWhatCanBeGuessed) {
  json all = with_defence(1, 0.0, 33.0);
  add_words(all, all["rows"][0], 0.97, 0.25);
  add_words(all, all["rows"][1], 0.29, 0.25);
  EXPECT_TRUE(effects_of(all).at(0).words.value().protects());
  EXPECT_TRUE(
      contains(verdict_of(all), "reads 100% of the messages word for word and 97% of the words (F1)."));
  EXPECT_TRUE(contains(verdict_of(all), "The words are then no better than guessed."));
  all["rows"].back()["scores"]["f1"] = 0.61;
  EXPECT_FALSE(effects_of(all).at(0).words.value().protects());
  EXPECT_TRUE(contains(verdict_of(all),
                       "Under it still 61% of the words (F1) can be read. None of them stops the words."));
}

TEST(DefenceEffects, GuaranteeWhatTheirWeakestCaseDoes) {
  json all = with_defence(1, 0.0, 33.0);
  all["rows"][1]["epsilon"] = 2.0;
  all["rows"][1]["delta"] = 1e-5;
  EXPECT_EQ(effects_of(all).at(0).epsilon, std::optional(2.0));
  EXPECT_TRUE(
      contains(verdict_of(all), "perplexity +10% (30.0 to 33.0), with a guarantee of ε=2.00 at δ=1e-05."));
  json vain = all;
  vain["rows"][1]["epsilon"] = 5612.0;
  EXPECT_TRUE(contains(verdict_of(vain), "whose promise of ε=5612 is as good as none"));
  for (json row : {all["rows"][0], all["rows"][1]}) {
    row["id"] = row["id"].get<std::string>() + " larger";
    row["messages"] = 64;
    row["epsilon"] = 3.0;
    all["rows"].push_back(row);
  }
  EXPECT_EQ(effects_of(all).at(0).epsilon, std::optional(3.0));
  all["rows"].back()["epsilon"] = nullptr;
  EXPECT_EQ(effects_of(all).at(0).epsilon, std::nullopt);
}

TEST(Choice, PutsWhatProtectsFirstAndThenWhatIsCheap) {
  json all = undefended();
  add(all, 0.1, 1.0, 30.0);
  add(all, 2, 0.0, 60.0);
  add(all, 1, 0.0, 45.0);
  add(all, 0.5, 0.5, 36.0);
  add(all, 1.5, 0.0, 45.0)["epsilon"] = 4.0;
  add(all, 0.2, 0.0, 31.0)["told"] = nullptr;
  std::vector<double> order;
  for (const DefenceEffect& effect : in_order_of_choice(effects_of(all)))
    order.push_back(effect.defence.strength.value());
  EXPECT_EQ(order, (std::vector<double>{1.5, 1, 2, 0.2, 0.5, 0.1}))
      << "of equal ones that with a guarantee; what an attack ignores comes after what it knows";
}

TEST(Choice, NamesTheCheapestThatProtects) {
  json all = with_defence(1.0, 0.0, 60.0);
  add(all, 0.5, 0.0, 45.0);
  EXPECT_EQ(headline_advice(parse_results(all)),
            "Of the defences tried, the cheapest that protects is noise per step, σ=0.5: at most 0% of the "
            "messages, perplexity +50% (30.0 to 45.0).");
  EXPECT_EQ(
      verdict_of(all),
      "Without a defence a curious server reads 100% of the messages word for word. The cheapest defence "
      "tried that stops it is noise per step, σ=0.5 (noise-per-step:sigma=0.5), at perplexity +50% (30.0 to "
      "45.0). ");
  EXPECT_EQ(
      headline_advice(parse_results(with_defence(0.1, 0.75, 30.0))),
      "None of the defences tried protects: under the strongest, noise per step, σ=0.1, still 75% of the "
      "messages, perplexity unchanged (30.0 to 30.0).");
  EXPECT_TRUE(contains(verdict_of(with_defence(0.1, 0.75, 30.0)),
                       "None of the defences tried stops it: under the strongest, noise per step, σ=0.1 "
                       "(noise-per-step:sigma=0.1), it still reads 75% of the messages word for word"));
  EXPECT_TRUE(contains(verdict_of(undefended()), "No defence was tried against it."));
}

TEST(Choice, SaysWhenUtilityWasNotMeasured) {
  json all = with_defence(1.0, 0.0, 60.0);
  all["rows"][1]["utility"]["perplexity_after"] = nullptr;
  EXPECT_TRUE(contains(verdict_of(all), "at a cost in utility that could not be measured."));
}

TEST(Frontier, HoldsWhatNothingElseIsAsGoodAs) {
  const std::vector<FrontierPoint> points = {{1, 0},   {1, 0.1},   {0.5, 0.1}, {0, 0.5},
                                             {0, 0.5}, {0.5, 0.6}, {0.2, 0.2}};
  EXPECT_EQ(best_of_both(points), (std::vector<bool>{true, false, true, true, false, false, true}));
  EXPECT_TRUE(best_of_both({}).empty());
  // What nobody could measure again is no difference.
  EXPECT_EQ(best_of_both({{1, 0}, {1, -1e-5}, {0.99999, 0}}), (std::vector<bool>{true, false, false}));
}

TEST(Frontier, IsMarkedForThePage) {
  json all = undefended();
  add(all, 0.1, 1.0, 33.0);
  add(all, 1, 0.0, 45.0);
  const json section = defence_section(parse_results(all));
  const json& threat = section["threats"].at(0);
  EXPECT_EQ(threat["undefended"]["best"]["read"], true);
  EXPECT_EQ(threat["effects"][0]["best"]["read"], false);
  EXPECT_EQ(threat["effects"][1]["best"]["read"], true);
  EXPECT_EQ(threat["choice"], json({1, 0}));
  EXPECT_EQ(section["impossible"][0]["why"], "a model of words cannot read characters");
  EXPECT_EQ(section["privacy"][0]["spec"], "dpsgd:clip=1,sigma=0.5");
}

TEST(DefenceTable, StandsInTheTerminalInTheOrderOfChoice) {
  json all = undefended();
  add(all, 0.1, 1.0, 33.0);
  add(all, 1, 0.0, 45.0)["epsilon"] = 2.5;
  const std::string table = terminal_table(all, false, 140);
  EXPECT_TRUE(contains(table, "Defences against the Curious server, best choice first")) << table;
  EXPECT_LT(table.find("noise-per-step:sigma=1 "), table.find("noise-per-step:sigma=0.1")) << table;
  for (const char* part : {"✓ protects", "✗ no help", "+50%", "2.50", "×2.5",
                           "not run: characters: a model of words cannot read characters"})
    EXPECT_TRUE(contains(table, part)) << part << "\n" << table;
  EXPECT_TRUE(contains(terminal_table(all, true, 140), "\033[32m"));  // what protects
}

TEST(UndefendedAdvice, OnSizeAndLocalTrainingByThemselves) {
  const auto advice = undefended_advice(parse_results(fixture::results()));
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
