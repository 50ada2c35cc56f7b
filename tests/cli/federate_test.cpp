// Whole federations end to end: run, killed, gone on with, spread over threads and ranks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "federated/federation_folder.h"
#include "federated/planting.h"
#include "models/char_lstm/char_lstm.h"
#include "program.h"
#include "text/character_tokenizer.h"

namespace undertext {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* kPattern = "the pin is {dddd}";

// Lines of small words, a thousand characters to fifty lines.
std::string some_text(int lines) {
  Random random{Seed(5)};
  std::string text;
  for (int line = 0; line < lines; ++line) {
    for (int word = 0; word < 5; ++word) {
      for (std::uint64_t letter = 0; letter < 2 + random.below(3); ++letter)
        text += static_cast<char>('a' + random.below(6));
      text += word < 4 ? " " : "\n";
    }
  }
  return text;
}

// An experiment with a small character LSTM of random weights.
class Federate : public ::testing::Test {
 protected:
  Federate() {
    std::string characters = "\n abcdefghijklmnopqrstuvwxyz0123456789-";
    const CharacterTokenizer tokenizer(std::u32string(characters.begin(), characters.end()), "test");
    const auto model =
        CharLstm::random({.vocabulary = tokenizer.size(), .embedding = 8, .units = 16, .layers = 2}, Seed(1));
    fs::create_directory(place_ / "lstm");
    model->save(place_ / "lstm");
    tokenizer.save(place_ / "lstm");
    place_.write("long.txt", some_text(800));
  }

  std::string experiment(int rounds, int per_client = 1500, const std::string& more = "") const {
    return place_.write("e.toml", fmt::format(R"(
[model]
folder = "lstm"
[texts]
files = "long.txt"
per_client = {}
sequence = 20
[federation]
clients = 4
rounds = {}
per_round = 2
epochs = 2
batch = 8
learning_rate = 0.01
reduction = "mean"
train = "all"
[records]
pattern = "{}"
times = 5
watermarks = 1
{})",
                                              per_client, rounds, kPattern, more));
  }

  // Every file of a federation, beside the folder too, by its name without the folder's.
  std::map<std::string, std::string> files(const std::string& out) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(place_ / out))
      if (entry.is_regular_file())
        all[fs::relative(entry.path(), place_ / out).string()] = read_file(entry.path());
    for (const char* beside : {".server.json", ".truth.json", ".watermarks.json"})
      all[beside] = read_file(place_ / (out + beside));
    return all;
  }

  std::size_t rounds_in(const std::string& out) const {
    try {
      return read_facts(place_ / out).rounds.size();
    } catch (const UserError&) {
      return 0;
    }
  }

  Outcome run(const std::string& file, const std::string& out, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"federate", file, "--out", place_.path(out)});
    return undertext_run(more);
  }

  Workplace place_;
};

TEST_F(Federate, RunsAndTells) {
  const std::string file = experiment(4);
  const Outcome first = run(file, "out");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("4 rounds of 4 clients\n"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("the planted records: "), std::string::npos) << first.out;
  const auto before = files("out");
  const Outcome again = run(file, "out", {"--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  const json told = again.json();
  EXPECT_EQ(told.at("resumed_at"), 4);
  EXPECT_EQ(told.at("rounds"), 4);
  EXPECT_EQ(told.at("per_round").size(), 4u);
  EXPECT_LT(told.at("per_round").at(3).at("validation_bits"), told.at("validation_bits_before"));
  EXPECT_EQ(files("out"), before);
  EXPECT_EQ(open_federation(place_ / "out").rounds, 4);
  // The folder is a model's too.
  EXPECT_EQ(undertext_run({"inspect", place_.path("out")}).code, 0);
}

TEST_F(Federate, TheTruthIsNotInTheFolder) {
  ASSERT_EQ(run(experiment(2), "out", {"--plant", "my code is {ddd}-{aaaa}", "--times", "7"}).code, 0);
  const PlantedTexts truth = read_planted(place_ / "out.truth.json");
  EXPECT_EQ(truth.pattern, "my code is {ddd}-{aaaa}");
  ASSERT_EQ(truth.texts.size(), 4u);
  const PlantedTexts marks = read_planted(place_ / "out.watermarks.json");
  ASSERT_EQ(marks.texts.size(), 4u);
  for (const auto& entry : fs::recursive_directory_iterator(place_ / "out")) {
    if (!entry.is_regular_file()) continue;
    const std::string content = read_file(entry.path());
    for (const PlantedTexts* planted : {&truth, &marks})
      for (const PlantedText& one : planted->texts) {
        EXPECT_EQ(content.find(one.text), std::string::npos) << entry.path();
        EXPECT_EQ(content.find(one.text.substr(11)), std::string::npos) << entry.path();
      }
    EXPECT_EQ(content.find("seed"), std::string::npos) << entry.path();
  }
  for (const PlantedText& one : truth.texts) EXPECT_EQ(one.times, 7);
  EXPECT_EQ(marks.texts[0].times, 1);
  EXPECT_EQ(marks.texts[0].text.size(), truth.texts[0].text.size());
}

TEST_F(Federate, ThreadsDoNotChangeTheBytes) {
  const std::string file = experiment(3);
  ASSERT_EQ(run(file, "one", {"--threads", "1"}).code, 0);
  ASSERT_EQ(run(file, "three", {"--threads", "3"}).code, 0);
  EXPECT_EQ(files("one"), files("three"));
  ASSERT_EQ(run(file, "other", {"--set", "run.seeds=2"}).code, 0);
  EXPECT_NE(files("one").at("rounds/003.safetensors"), files("other").at("rounds/003.safetensors"));
}

// UNDERTEXT_KILLS=200 is the long form.
TEST_F(Federate, SurvivesKillsAtAnyMoment) {
  const char* asked = std::getenv("UNDERTEXT_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 12;
  // Each life is ended within a round or two after its first, or while it still starts; no number of lives
  // gets all rounds done.
  const int rounds = 6 * kills;
  const std::string file = experiment(rounds, 2000);
  Random random{Seed(7)};
  int struck = 0;
  for (int i = 0; i < kills; ++i) {
    const std::size_t before = rounds_in("killed");
    RunningProgram program({"federate", file, "--out", place_.path("killed")});
    const bool early = random.uniform() < 0.3;
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (!early && rounds_in("killed") <= before && steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(early ? 400 : 60)));
    program.signal(SIGKILL);
    struck += program.wait().code == 128 + SIGKILL;
  }
  EXPECT_EQ(struck, kills);
  EXPECT_GT(rounds_in("killed"), 0u);
  const Outcome rest = run(file, "killed");
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_NE(rest.out.find("gone on from round"), std::string::npos) << rest.out;
  ASSERT_EQ(run(file, "undisturbed").code, 0);
  const auto killed = files("killed"), undisturbed = files("undisturbed");
  EXPECT_EQ(killed.size(), undisturbed.size());
  EXPECT_EQ(killed, undisturbed);
  // Nothing half-written is left behind, beside the folder neither.
  for (const auto& entry : fs::directory_iterator(place_ / ""))
    EXPECT_FALSE(entry.path().filename().string().ends_with(".tmp")) << entry.path();
}

TEST_F(Federate, RanksDoNotChangeTheBytes) {
  if (!on_path("mpirun")) GTEST_SKIP() << "no mpirun on the path";
  const std::string file = experiment(3, 1000, "[[defence]]\nkind = \"noise-per-step\"\nsigma = 0.001\n");
  const std::vector<std::string> sets = {"--set", "federation.per_round=3", "--set",
                                         "federation.drop_out=0.2"};
  ASSERT_EQ(run(file, "alone", sets).code, 0);
  const auto alone = files("alone");
  for (const int ranks : {1, 2, 4}) {
    const std::string out = fmt::format("ranks{}", ranks);
    std::vector<std::string> words = {"mpirun",         "--oversubscribe", "-n", std::to_string(ranks),
                                      UNDERTEXT_BINARY, "federate",        file, "--out",
                                      place_.path(out)};
    words.insert(words.end(), sets.begin(), sets.end());
    const Outcome many = run_program(words, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                             {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                             {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}});
    ASSERT_EQ(many.code, 0) << many.err;
    EXPECT_EQ(files(out), alone) << ranks;
  }
}

TEST_F(Federate, RanksTellAMistakeOnceAndEnd) {
  if (!on_path("mpirun")) GTEST_SKIP() << "no mpirun on the path";
  const std::map<std::string, std::string> environment = {
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};
  const auto complaint = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> words = {"mpirun",      "--oversubscribe", "-n",
                                      "3",           UNDERTEXT_BINARY,  "federate",
                                      experiment(3), "--out",           place_.path("out")};
    words.insert(words.end(), sets.begin(), sets.end());
    const Outcome run = run_program(words, environment);
    EXPECT_EQ(run.code, 2) << run.err;
    return run.err;
  };
  // Before any client trains, and when the folder is another's.
  EXPECT_NE(complaint({"--set", "federation.per_round=9"}).find("9 clients a round"), std::string::npos);
  place_.write("out.server.json", "{}");
  EXPECT_NE(complaint({}).find("out.server.json"), std::string::npos);
}

TEST_F(Federate, MistakesAreToldInOneLine) {
  const std::string file = experiment(2);
  const auto complaint = [&](std::vector<std::string> more) {
    const Outcome outcome = run(file, "out", std::move(more));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(one_line(outcome.err)) << outcome.err;
    return outcome.err;
  };
  const auto set = [&](const std::string& value) { return complaint({"--set", value}); };
  EXPECT_NE(set("federation.rounds=0").find("rounds"), std::string::npos);
  EXPECT_NE(set("texts.per_client=90000").find("long.txt: "), std::string::npos);
  EXPECT_NE(set("texts.per_client=90000").find("expected at least 540000 for 4 clients of 90000"),
            std::string::npos);
  EXPECT_NE(set("federation.per_round=5").find("5 clients a round, expected 1 to 4"), std::string::npos);
  EXPECT_NE(set("federation.schedule=none.json").find("federation.schedule: there is no file"),
            std::string::npos);
  place_.write("schedule.json", "[[0, 1], [2, 7]]");
  EXPECT_NE(set("federation.schedule=schedule.json").find("round 2 names client 7, expected 0 to 3"),
            std::string::npos);
  EXPECT_NE(complaint({"--plant", "no free place"}).find("no free place"), std::string::npos);
  EXPECT_NE(complaint({"--plant", "über {d}"}).find("records.pattern: the model has no token"),
            std::string::npos);
  EXPECT_NE(set("federation.epochs=[1, 2]").find("2 federations, expected one: federation.epochs has"),
            std::string::npos);
  EXPECT_NE(set("federation.sends=gradient").find("federation.sends"), std::string::npos);
  EXPECT_NE(set("model.folder=model").find("records.pattern"), std::string::npos);
  EXPECT_FALSE(fs::exists(place_ / "out"));
  EXPECT_FALSE(fs::exists(place_ / "out.truth.json"));
  EXPECT_FALSE(fs::exists(place_ / "out.server.json"));
  EXPECT_EQ(undertext_run({"federate", file}).code, 2);
  // A cell of a federation is an attack on its records.
  EXPECT_NE(undertext_run({"run", file, "--dry-run"}).err.find("expected \"records\""), std::string::npos);
}

TEST_F(Federate, WordsInLinesWorkToo) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "see you at home word" + std::to_string(11 + i % 20) + "\n";
  place_.write("words.txt", text);
  const Outcome outcome =
      run(experiment(3), "out",
          {"--set", "model.folder=model", "--set", "texts.files=words.txt", "--set", "texts.sequence=0",
           "--set", "texts.per_client=9", "--set", "records.watermarks=0", "--plant",
           "I see {word11|word12|word13|word14} at home", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("kind"), "cifg-lstm");
  EXPECT_LT(outcome.json().at("per_round").at(2).at("validation_bits"),
            outcome.json().at("validation_bits_before"));
}

}  // namespace
}  // namespace undertext
