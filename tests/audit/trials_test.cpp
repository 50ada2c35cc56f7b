#include "audit/trials.h"

#include <gtest/gtest.h>

#include <set>

#include "audit/defence_strengths.h"
#include "audit/guess.h"
#include "audit/keyboard_audit.h"
#include "audit/told_defence.h"
#include "base/error.h"
#include "base/threads.h"
#include "report/results.h"
#include "small_audit.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(ChosenDefences, AreAllNoneOrWhatIsTyped) {
  const std::vector<std::string> everything = {"clipping:clip=1", "dpsgd:sigma=0.5,clip=1"};
  const auto chosen = [&](const std::vector<std::string>& given) {
    std::vector<std::string> texts;
    for (const DefencePlan& plan : chosen_defences(given, everything)) texts.push_back(plan.text());
    return texts;
  };
  EXPECT_EQ(chosen({"all"}).size(), 2u);
  EXPECT_TRUE(chosen({"none"}).empty());
  EXPECT_EQ(chosen({"pruning:share=0.5", "pruning:share=0.5"}),
            std::vector<std::string>{"pruning:share=0.5"});
  EXPECT_EQ(chosen_defences(std::vector<std::string>{"clipping:clip=1 noise-on-result:sigma=0.1"}, {})
                .at(0)
                .specs()
                .size(),
            2u);
  EXPECT_THROW(chosen({"all", "pruning"}), UserError);
  EXPECT_THROW(chosen({"prayer"}), UserError);
  EXPECT_THROW(chosen({""}), UserError);
}

TEST(ChosenDefences, OfEveryPresetNameEveryKind) {
  for (const char* preset : {"keyboard", "transformer", "records"}) {
    std::set<std::string> kinds;
    for (const DefencePlan& plan : chosen_defences(std::vector<std::string>{"all"}, all_defences(preset)))
      for (const DefenceSpec& spec : plan.specs()) kinds.insert(spec.kind);
    for (const DefenceKind& kind : defence_kinds())
      EXPECT_TRUE(kinds.contains(kind.name)) << preset << kind.name;
  }
}

TEST(DefenceJson, NamesKindStrengthAndWhatIsTyped) {
  const json noise = defence_json(parse_plan("noise-per-step:sigma=0.5"));
  EXPECT_EQ(noise["kind"], "noise-per-step");
  EXPECT_EQ(noise["title"], "noise per step");
  EXPECT_EQ(noise["spec"], "noise-per-step:sigma=0.5");
  EXPECT_EQ(noise["parameter"], "sigma");
  EXPECT_EQ(noise["strength"], 0.5);
  EXPECT_EQ(defence_json({})["kind"], "none");
  EXPECT_TRUE(defence_json(parse_plan("frozen-embedding"))["strength"].is_null());
  EXPECT_EQ(defence_json(parse_plan("clipping:clip=1 noise-on-result:sigma=0.1"))["kind"],
            "clipping+noise-on-result");
}

TEST(Told, SaysWhatAnAttackUses) {
  Protocol protocol;
  protocol.defence.noise_per_step = 1;
  const DefencePlan noise = parse_plan("noise-per-step:sigma=1"), pruning = parse_plan("pruning:share=0.9");
  EXPECT_EQ(told_of("sentences", "best", noise, protocol), "the deviation of the noise");
  protocol.defence.clip = 1;
  protocol.kind = UpdateKind::gradient;
  EXPECT_EQ(told_of("sentences", "film", noise, protocol),
            "the deviation of the noise, that gradients are clipped");
  EXPECT_EQ(told_of("sentences", "tag", noise, protocol), std::nullopt) << "it does not know of the noise";
  EXPECT_EQ(told_of("records", "best", noise, protocol), std::nullopt);
  EXPECT_EQ(told_of("sentences", "best", pruning, {}), std::nullopt);
}

TEST(Guess, IsTheMostFrequentWords) {
  const std::vector<Sentence> known = {{1, 1, 2}, {1, 3}, {2}};
  EXPECT_DOUBLE_EQ(*guessed(std::vector<Sentence>{{1, 2}}, known), 1);
  EXPECT_DOUBLE_EQ(*guessed(std::vector<Sentence>{{1, 9}}, known), 0.5);
  EXPECT_FALSE(guessed(std::vector<Sentence>{{1}}, {}));
}

class Defences : public testing::Test {
 protected:
  Defences() : options_(small_audit(folder_ / "cache", notes_)) {
    options_.sizes = {4};
    options_.defended_sizes = {4};
    options_.protocols.resize(1);
  }
  TemporaryFolder folder_;
  std::vector<std::string> notes_;
  AuditOptions options_;
};

// Whatever is named lands in the rows or among what cannot be run, with a reason.
TEST_F(Defences, AllRunOrSayWhyNot) {
  options_.defences = {{"all"}};
  const Results results = parse_results(run_keyboard_audit(options_));
  std::set<std::string> ran, refused;
  for (const ResultRow& row : results.rows) {
    if (!row.defence.none()) ran.insert(row.defence.spec);
    EXPECT_EQ(row.epsilon.has_value(), row.defence.kind == "dpsgd") << row.id;
    if (row.defence.kind == "secure-aggregation") {
      EXPECT_EQ(row.messages, 4) << "of one client";
      if (row.sentences()) {
        EXPECT_EQ(row.truth, 4 * *row.defence.strength) << "of all of them";
      }
    }
  }
  for (const ImpossibleCase& entry : results.impossible) {
    EXPECT_FALSE(entry.why.empty());
    refused.insert(entry.defence.spec);
  }
  for (const DefencePlan& plan : chosen_defences(std::vector<std::string>{"all"}, all_defences("keyboard")))
    EXPECT_TRUE(ran.contains(plan.text()) || refused.contains(plan.text())) << plan.text();
  EXPECT_TRUE(refused.contains(parse_plan("dp-fedavg:sigma=1,clip=1").text()));
  EXPECT_EQ(results.privacy.size(), 5u) << "a statement for each strength of DP-SGD under the one protocol";
}

TEST_F(Defences, AreTheSameForAnyNumberOfThreads) {
  options_.defences = {{"secure-aggregation:users=2", "dpsgd:sigma=0.5,clip=1"}};
  json runs[2];
  for (const int i : {0, 1}) {
    set_threads(i + 1);
    runs[i] = run_keyboard_audit(options_);
    runs[i].erase("seconds");
    for (json& row : runs[i]["rows"]) row["seconds"] = row["training_seconds"] = 0;
  }
  set_threads(0);
  EXPECT_EQ(runs[0], runs[1]);
  ASSERT_EQ(runs[0]["rows"].size(), 4u + 4 + 5);
}

}  // namespace
}  // namespace undertext
