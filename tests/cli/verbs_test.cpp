// The verbs in a row, on a small model: client, attack words, attack sentences, report.
#include <gtest/gtest.h>

#include "program.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(Program, SaysItsVersionAndItsVerbs) {
  const Outcome version = undertext_run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "undertext 0.8.0\n");
  const Outcome help = undertext_run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* verb : {"audit", "client", "attack", "report", "--threads"})
    EXPECT_NE(help.out.find(verb), std::string::npos) << verb;
  const Outcome flags = undertext_run({"attack", "sentences", "--help"});
  EXPECT_EQ(flags.code, 0);
  EXPECT_NE(flags.out.find("--method"), std::string::npos);
  const Outcome nothing = undertext_run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
}

TEST(Client, SaysWhatItDidForPeopleAndForPrograms) {
  const Workplace place;
  const std::vector<std::string> flags = {"client",
                                          "--model",
                                          place.path("model"),
                                          "--texts",
                                          place.path("texts.txt"),
                                          "--out",
                                          place.path("update.safetensors"),
                                          "--epochs",
                                          "3",
                                          "--batch",
                                          "2"};
  const Outcome people = undertext_run(flags);
  EXPECT_EQ(people.code, 0) << people.err;
  EXPECT_EQ(people.err, "");
  EXPECT_NE(people.out.find("trained on 4 messages with 17 words, in 6 steps"), std::string::npos)
      << people.out;

  std::vector<std::string> with_json = flags;
  with_json.push_back("--json");
  const json summary = undertext_run(with_json).json();
  EXPECT_EQ(summary.at("messages"), 4);
  EXPECT_EQ(summary.at("words"), 17);
  EXPECT_EQ(summary.at("steps"), 6);
  EXPECT_LT(summary.at("perplexity_after"), summary.at("perplexity_before"));
}

TEST(Client, WritesTheSameBytesWhateverTheThreads) {
  const Workplace place;
  place.make_update(
      "one", {"--epochs", "3", "--batch", "3", "--defence", "noise-per-step:sigma=0.1", "--threads", "1"});
  place.make_update(
      "two", {"--epochs", "3", "--batch", "3", "--defence", "noise-per-step:sigma=0.1", "--threads", "2"});
  place.make_update(
      "other", {"--epochs", "3", "--batch", "3", "--defence", "noise-per-step:sigma=0.1", "--seed", "2"});
  EXPECT_EQ(place.read("one"), place.read("two"));
  EXPECT_NE(place.read("one"), place.read("other"));
}

TEST(Client, FlagsReachTheUpdate) {
  const Workplace place;
  const std::string plain = place.read(place.make_update("plain").substr(place.path("").size()));
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--epochs", "2"},
                                             {"--batch", "1"},
                                             {"--lr", "0.01"},
                                             {"--reduction", "mean"},
                                             {"--train", "all"},
                                             {"--kind", "gradient"},
                                             {"--zero-output-bias"},
                                             {"--defence", "noise-per-step:sigma=1"},
                                             {"--defence", "noise-on-result:sigma=0.1"}}) {
    place.make_update("changed", flags);
    EXPECT_NE(place.read("changed"), plain) << flags.front();
  }
  EXPECT_NE(place.read("plain").find("\"learning_rate\":\"0.001\""), std::string::npos);
}

TEST(AttackWords, TruthAddsScoresAndNothingElse) {
  const Workplace place;
  const std::string update = place.make_update("update");
  const std::vector<std::string> flags = {"attack",   "words", "--model", place.path("model"),
                                          "--update", update,  "--json"};
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--method", "paper"}, {"--method", "best"}, {"--cutoff", "none"}, {"--cutoff", "auto"}}) {
    std::vector<std::string> blind = flags;
    blind.insert(blind.end(), more.begin(), more.end());
    std::vector<std::string> scored = blind;
    scored.insert(scored.end(), {"--truth", place.path("texts.txt")});
    json without = undertext_run(blind).json(), with = undertext_run(scored).json();
    EXPECT_EQ(without.at("attack"), "words");
    EXPECT_EQ(without.at("scores"), json::object());
    for (const char* score : {"f1", "precision", "recall"}) {
      EXPECT_GE(with.at("scores").at(score), 0);
      EXPECT_LE(with.at("scores").at(score), 1);
    }
    EXPECT_EQ(with.at("scores").at("truth"), 10);
    with["scores"] = json::object();
    EXPECT_EQ(with, without);
    for (const json& word : without.at("words")) {
      EXPECT_TRUE(word.at("id").is_number_integer() && word.at("word").is_string());
      EXPECT_TRUE(word.at("count").is_number() && word.at("score").is_number());
    }
  }
}

TEST(AttackWords, OracleIsNamedAndNeedsTheTruth) {
  const Workplace place;
  const std::string update = place.make_update("update", {"--defence", "noise-per-step:sigma=0.05"});
  std::vector<std::string> flags = {"attack",   "words",  "--model", place.path("model"), "--update", update,
                                    "--cutoff", "oracle", "--json"};
  const Outcome blind = undertext_run(flags);
  EXPECT_EQ(blind.code, 2);
  EXPECT_TRUE(one_line(blind.err)) << blind.err;
  flags.insert(flags.end(), {"--truth", place.path("texts.txt")});
  const json answer = undertext_run(flags).json();
  EXPECT_EQ(answer.at("cutoff"), "oracle");
  EXPECT_EQ(answer.at("method"), "paper");

  // No other cutoff on the same list does better.
  std::vector<std::string> sign = flags;
  sign[7] = "none";
  EXPECT_GE(answer.at("scores").at("f1"), undertext_run(sign).json().at("scores").at("f1"));
}

TEST(AttackSentences, TruthAddsScoresAndNothingElse) {
  const Workplace place;
  const std::string update = place.make_update("update");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{},
                                             {"--count", "4"},
                                             {"--method", "paper"},
                                             {"--method", "paper", "--length", "3", "--scale", "30"},
                                             {"--method", "paper", "--count", "2"}}) {
    std::vector<std::string> blind = {"attack",   "sentences", "--model", place.path("model"),
                                      "--update", update,      "--json"};
    blind.insert(blind.end(), more.begin(), more.end());
    std::vector<std::string> scored = blind;
    scored.insert(scored.end(), {"--truth", place.path("texts.txt")});
    const Outcome run = undertext_run(blind);
    ASSERT_EQ(run.code, 0) << run.err;
    json without = run.json(), with = undertext_run(scored).json();
    EXPECT_EQ(without.at("attack"), "sentences");
    EXPECT_TRUE(without.at("certified").is_boolean());
    EXPECT_EQ(without.at("scores"), json::object());
    EXPECT_GE(with.at("scores").at("exact"), 0);
    EXPECT_EQ(with.at("scores").at("truth"), 4);
    // Certain means right.
    if (with.at("certified")) {
      EXPECT_EQ(with.at("scores").at("exact"), 1);
    }
    with["scores"] = json::object();
    EXPECT_EQ(with, without);
    for (const json& sentence : without.at("sentences")) {
      EXPECT_TRUE(sentence.at("text").is_string() && sentence.at("score").is_number());
      for (const json& id : sentence.at("ids")) EXPECT_NE(id, 1) << "the start of a sentence is not a word";
    }
  }
}

TEST(Attacks, SpeakToPeople) {
  const Workplace place;
  const std::string update = place.make_update("update");
  for (const std::string attack : {"words", "sentences"}) {
    const Outcome run = undertext_run({"attack", attack, "--model", place.path("model"), "--update", update,
                                       "--truth", place.path("texts.txt")});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, "");
    for (const char* part : {"read from", "who reads:", "update:", "scores:"})
      EXPECT_NE(run.out.find(part), std::string::npos) << part << " in " << run.out;
  }
}

TEST(Attacks, AnswerTheSameWhateverTheThreads) {
  const Workplace place;
  const std::string update = place.make_update("update", {"--defence", "noise-per-step:sigma=0.01"});
  for (const std::string attack : {"words", "sentences"}) {
    std::string answers[2];
    for (const int i : {0, 1})
      answers[i] = undertext_run({"--threads", std::to_string(i + 1), "attack", attack, "--model",
                                  place.path("model"), "--update", update, "--json"})
                       .out;
    EXPECT_EQ(answers[0], answers[1]) << attack;
  }
}

}  // namespace
}  // namespace undertext
