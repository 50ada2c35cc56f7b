// The published experiment and whole recoveries, on the real keyboard model where it is at hand.
#include <gtest/gtest.h>

#include "base/files.h"
#include "program.h"
#include "text/messages.h"

namespace undertext {
namespace {

using nlohmann::json;

class KeyboardModel : public testing::Test {
 protected:
  void SetUp() override {
    model_ = std::string(UNDERTEXT_SHARED) + "/data/gboard";
    if (!std::filesystem::exists(model_)) GTEST_SKIP() << "the keyboard model is not at " << model_;
  }

  json attack(const std::vector<std::string>& texts, const std::vector<std::string>& client,
              const std::vector<std::string>& attack) {
    std::string content;
    for (const std::string& text : texts) content += text + "\n";
    place_.write("messages.txt", content);
    std::vector<std::string> first = {
        "client", "--model", model_, "--texts", place_.path("messages.txt"), "--out", place_.path("update")};
    first.insert(first.end(), client.begin(), client.end());
    const Outcome trained = undertext_run(first);
    EXPECT_EQ(trained.code, 0) << trained.err;
    std::vector<std::string> second = {"attack"};
    second.insert(second.end(), attack.begin(), attack.end());
    second.insert(second.end(), {"--model", model_, "--update", place_.path("update"), "--truth",
                                 place_.path("messages.txt"), "--json"});
    const Outcome read = undertext_run(second);
    EXPECT_EQ(read.code, 0) << read.err;
    return read.json();
  }

  Workplace place_;
  std::string model_;
};

TEST_F(KeyboardModel, GivesTableOneOfThePaper) {
  const json answer =
      attack({"learning online is not so private"}, {"--zero-output-bias"}, {"words", "--cutoff", "none"});
  // The sixth is not the printed value, which repeats that of "learning".
  const std::map<std::string, double> wanted = {{"learning", -0.0009951562}, {"online", -0.0009941629},
                                                {"is", -0.0009978750},       {"not", -0.0009941144},
                                                {"so", -0.0009965639},       {"private", -0.0009969121}};
  ASSERT_EQ(answer.at("words").size(), 6);
  double previous = -1;
  for (const json& word : answer.at("words")) {
    ASSERT_TRUE(wanted.contains(word.at("word"))) << word;
    EXPECT_NEAR(word.at("score"), wanted.at(word.at("word")), 1e-8) << word;
    EXPECT_GE(word.at("score"), previous) << "best first";
    previous = word.at("score");
  }
  EXPECT_EQ(answer.at("scores").at("f1"), 1);
}

TEST_F(KeyboardModel, GivesUpEveryMessageOfOneStep) {
  const auto texts = generate_messages(Seed(77).derive("cli test"), 16);
  const json sentences = attack(texts, {}, {"sentences"});
  EXPECT_EQ(sentences.at("scores").at("exact"), 1) << sentences;
  EXPECT_EQ(sentences.at("scores").at("exact_precision"), 1);
  EXPECT_EQ(sentences.at("certified"), true);
  const json words = attack(texts, {}, {"words"});
  EXPECT_GE(words.at("scores").at("f1"), 0.99);
  EXPECT_GE(words.at("scores").at("precision"), 0.99);
}

TEST_F(KeyboardModel, IsTrainedToTheSameBytesWhateverTheThreads) {
  const auto texts = generate_messages(Seed(78).derive("cli test"), 40);
  std::string content, updates[2];
  for (const std::string& text : texts) content += text + "\n";
  place_.write("messages.txt", content);
  for (const int i : {0, 1}) {
    const std::string file = "update" + std::to_string(i);
    const Outcome run =
        undertext_run({"client", "--model", model_, "--texts", place_.path("messages.txt"), "--epochs", "2",
                       "--batch", "16", "--defence", "noise-per-step:sigma=0.01", "--out", place_.path(file),
                       "--threads", std::to_string(i + 1)});
    EXPECT_EQ(run.code, 0) << run.err;
    updates[i] = place_.read(file);
  }
  EXPECT_TRUE(updates[0] == updates[1]);
}

}  // namespace
}  // namespace undertext
