// undertext privacy, as a privacy review would use it.
#include <gtest/gtest.h>

#include <algorithm>

#include "program.h"

namespace undertext {
namespace {

using nlohmann::json;

json privacy(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "privacy");
  arguments.push_back("--json");
  const Outcome run = undertext_run(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.code == 0 ? run.json() : json();
}

TEST(Privacy, GivesTheEpsilonOfATraining) {
  const json told = privacy({"--sigma", "1.5", "--rate", "0.04", "--steps", "2250", "--accountant", "renyi"});
  EXPECT_NEAR(told.at("epsilon").get<double>(), 7.32911117143, 1e-9);
  EXPECT_EQ(told.at("accountant"), "renyi");
  EXPECT_EQ(told.at("sampling"), "poisson");
  EXPECT_EQ(told.at("unit"), "example");
  const json epochs = privacy(
      {"--sigma", "1.3", "--examples", "60000", "--batch", "150", "--epochs", "15", "--accountant", "renyi"});
  EXPECT_NEAR(epochs.at("epsilon").get<double>(), .72422340261, 1e-9);
  const json tight = privacy({"--sigma", "1.5", "--rate", "0.05", "--steps", "1000", "--delta", "1e-6"});
  EXPECT_NEAR(tight.at("epsilon").get<double>(), 6.2099692466 - .01, 3e-4);
}

TEST(Privacy, FindsTheNoiseForAPromise) {
  const json told = privacy({"--epsilon", "8", "--rate", "0.04", "--steps", "2250", "--accountant", "renyi"});
  EXPECT_NEAR(told.at("sigma").get<double>(), 1.416, 5e-4);
  EXPECT_LE(told.at("epsilon").get<double>(), 8);
  EXPECT_EQ(told.at("wanted"), 8);
}

TEST(Privacy, AddsUpPhasesAndTrees) {
  const json twice =
      privacy({"--phase", "sigma=1.5,rate=0.05,steps=400", "--phase", "steps=600,rate=0.05,sigma=1.5"});
  const json once = privacy({"--sigma", "1.5", "--rate", "0.05", "--steps", "1000"});
  EXPECT_NEAR(twice.at("epsilon").get<double>(), once.at("epsilon").get<double>(), 1e-4);
  // Three trees of 16 leaves, five nodes above each: fifteen Gaussian steps.
  const json trees = privacy({"--sigma", "4", "--tree", "16", "--restarts", "2", "--accountant", "gaussian"});
  const json steps = privacy({"--sigma", "4", "--rate", "1", "--steps", "15", "--accountant", "gaussian"});
  EXPECT_EQ(trees.at("epsilon"), steps.at("epsilon"));
  EXPECT_EQ(trees.at("unit"), "user");
  EXPECT_EQ(trees.at("tree").at("trees"), 3);
  EXPECT_FALSE(trees.at("approximate").get<bool>());
}

TEST(Privacy, StatesWhatAReviewAsksFor) {
  const Outcome run =
      undertext_run({"privacy", "--sigma", "1.1", "--rate", "0.01", "--steps", "1000", "--unit", "user"});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* part :
       {"differential privacy", "one user", "adding or removing", "1e-05", "Poisson", "PRV"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << "\n" << run.out;
  const Outcome none = undertext_run({"privacy", "--sigma", "0", "--rate", "0.01", "--steps", "10"});
  EXPECT_NE(none.out.find("infinite"), std::string::npos) << none.out;
}

TEST(Privacy, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--sigma", "1"},
      {"--sigma", "1", "--epsilon", "2", "--rate", ".1", "--steps", "5"},
      {"--rate", ".1", "--steps", "5"},
      {"--sigma", "1", "--rate", ".1"},
      {"--sigma", "1", "--rate", "0", "--steps", "5"},
      {"--sigma", "1", "--rate", "1.1", "--steps", "5"},
      {"--sigma", "-1", "--rate", ".1", "--steps", "5"},
      {"--sigma", "nan", "--rate", ".1", "--steps", "5"},
      {"--sigma", "1", "--rate", ".1", "--steps", "-5"},
      {"--sigma", "1", "--rate", ".1", "--steps", "5", "--delta", "0"},
      {"--sigma", "1", "--rate", ".1", "--steps", "5", "--accountant", "moments"},
      {"--sigma", "1", "--rate", ".1", "--steps", "5", "--unit", "family"},
      {"--sigma", "1", "--rate", ".1", "--steps", "5", "--examples", "10", "--batch", "2", "--epochs", "1"},
      {"--sigma", "1", "--examples", "10", "--batch", "20", "--epochs", "1"},
      {"--sigma", "1", "--examples", "10", "--batch", "2"},
      {"--sigma", "1", "--tree", "0"},
      {"--sigma", "1", "--tree", "8", "--rate", ".1", "--steps", "5"},
      {"--sigma", "1", "--rate", ".1", "--steps", "5", "--restarts", "2"},
      {"--epsilon", "0", "--rate", ".1", "--steps", "5"},
      {"--phase", "sigma=1,rate=.1"},
      {"--phase", "sigma=1,rate=.1,steps=1.5"},
      {"--phase", "sigma=1,rate=.1,steps=5,batch=2"},
      {"--phase", "sigma=1,sigma=1,rate=.1,steps=5"},
      {"--phase", "sigma=x,rate=.1,steps=5"},
      {"--phase", "sigma=1,rate=.1,steps=5,"},
      {"--phase", ""},
      {"--phase", "sigma=1,rate=.1,steps=5", "--sigma", "1"},
      {"--phase", "sigma=1,rate=2,steps=5"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), "privacy");
    const Outcome run = undertext_run(arguments);
    std::string all;
    for (const std::string& argument : arguments) all += argument + " ";
    EXPECT_EQ(run.code, 2) << all << run.out;
    EXPECT_TRUE(one_line(run.err)) << all << run.err;
    EXPECT_TRUE(run.out.empty()) << all;
  }
}

class PrivacyCanary : public testing::Test {
 protected:
  // All texts in one step and some runs, unless said otherwise.
  std::vector<std::string> canary(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {
        "privacy", "canary", "--model", place_.path("model"), "--texts", place_.path("texts.txt")};
    for (const auto& [flag, value] : {std::pair("--batch", "0"), {"--trials", "120"}})
      if (std::ranges::count(more, flag) == 0) arguments.insert(arguments.end(), {flag, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Workplace place_;
};

TEST_F(PrivacyCanary, DoesNotRefuteWhatIsTrue) {
  const Outcome run = undertext_run(canary({"--defence", "dpsgd:clip=1,sigma=1", "--json"}));
  EXPECT_EQ(run.code, 0) << run.err;
  const json told = run.json();
  EXPECT_FALSE(told.at("refuted").get<bool>());
  EXPECT_LE(told.at("lower_bound").get<double>(), told.at("upper_bound").get<double>());
  const Outcome again =
      undertext_run(canary({"--defence", "dpsgd:clip=1,sigma=1", "--json", "--threads", "1"}));
  EXPECT_EQ(again.out, run.out);
}

TEST_F(PrivacyCanary, RefutesWhatIsNot) {
  const Outcome run = undertext_run(canary({"--defence", "dpsgd:clip=1,sigma=0.1", "--claim", "1"}));
  EXPECT_EQ(run.code, 3) << run.out << run.err;
  EXPECT_NE(run.out.find("the claim is refuted"), std::string::npos) << run.out;
}

// Without a defence nothing is promised, and so nothing refuted; with batches in order nothing is known.
TEST_F(PrivacyCanary, ClaimsNoMoreThanIsKnown) {
  const Outcome open = undertext_run(canary({"--json"}));
  EXPECT_EQ(open.code, 0) << open.err;
  EXPECT_TRUE(open.json().at("upper_bound").is_null());
  const Outcome ordered = undertext_run(canary({"--defence", "dpsgd:clip=1,sigma=1", "--batch", "2"}));
  EXPECT_EQ(ordered.code, 2) << ordered.out;
  EXPECT_NE(ordered.err.find("sampling=poisson"), std::string::npos) << ordered.err;
  const Outcome drawn =
      undertext_run(canary({"--defence", "dpsgd:clip=1,sigma=1,sampling=poisson", "--batch", "2", "--json"}));
  EXPECT_EQ(drawn.code, 0) << drawn.err;
}

TEST_F(PrivacyCanary, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> wrong = {{"--defence", "dpsgd:clip=1,sigma=-1"},
                                                       {"--defence", "dp-ftrl:clip=1,sigma=1"},
                                                       {"--trials", "2"},
                                                       {"--confidence", "1"},
                                                       {"--claim", "-1"},
                                                       {"--rate", ".1"},
                                                       {"--words", "0"},
                                                       {"--epochs", "0"},
                                                       {"--batch", "-1"},
                                                       {"--references", "-1"},
                                                       {"--delta", "2"},
                                                       {"--learning-rate", "0"}};
  for (const std::vector<std::string>& more : wrong) {
    const Outcome run = undertext_run(canary(more));
    EXPECT_EQ(run.code, 2) << more.front() << run.out;
    EXPECT_TRUE(one_line(run.err)) << more.front() << run.err;
  }
  EXPECT_EQ(undertext_run({"privacy", "canary", "--texts", place_.path("texts.txt")}).code, 2);
}

}  // namespace
}  // namespace undertext
