// Records read from a federation's folder, end to end, and what is said where that cannot be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "federated/federation_folder.h"
#include "federated/planting.h"
#include "models/char_lstm/char_lstm.h"
#include "program.h"
#include "text/character_tokenizer.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kPattern = "pin {ddd}";

// A federation of three clients and a small model that it soon overfits.
class Records : public ::testing::Test {
 protected:
  Records() {
    const std::string characters = "\n abcdefghijklmnopqrstuvwxyz0123456789";
    const CharacterTokenizer tokenizer(std::u32string(characters.begin(), characters.end()), "test");
    save_model("lstm", 1);
    tokenizer.save(place_ / "lstm");
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("{} abc dab fed\n", "abcdef"[i % 6]);
    place_.write("long.txt", text);
    place_.write("e.toml", fmt::format(R"(
[model]
folder = "lstm"
[texts]
files = "long.txt"
per_client = 300
sequence = 20
[federation]
clients = 3
rounds = 8
per_round = 1
epochs = 2
batch = 4
learning_rate = 0.01
reduction = "mean"
train = "all"
[records]
pattern = "{}"
times = 6
watermarks = 1
)",
                                       kPattern));
  }

  void save_model(const std::string& name, std::uint64_t seed) const {
    fs::create_directories(place_ / name);
    CharLstm::random({.vocabulary = 39, .embedding = 8, .units = 16, .layers = 2}, Seed(seed))
        ->save(place_ / name);
  }

  void federate() const {
    const Outcome outcome =
        undertext_run({"federate", place_.path("e.toml"), "--out", place_.path("fed"), "--threads", "1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  Outcome attack(std::vector<std::string> more, const std::string& pattern = kPattern) const {
    more.insert(more.begin(), {"attack", "records", "--snapshots", place_.path("fed"), "--pattern", pattern});
    return undertext_run(more);
  }

  std::string complaint(std::vector<std::string> more, const std::string& pattern = kPattern) const {
    const Outcome outcome = attack(std::move(more), pattern);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_TRUE(one_line(outcome.err)) << outcome.err;
    return outcome.err;
  }

  Workplace place_;
};

TEST_F(Records, EveryMethodListsCandidates) {
  federate();
  for (const std::string method : {"baseline", "eavesdrop", "watermark", "best"}) {
    std::vector<std::string> flags = {"--method", method, "--json", "--top", "3"};
    if (method == "watermark")
      flags.insert(flags.end(), {"--watermarks", place_.path("fed.watermarks.json")});
    const Outcome plain = attack(flags);
    ASSERT_EQ(plain.code, 0) << plain.err;
    const json found = plain.json();
    EXPECT_EQ(found.at("attack"), "records");
    ASSERT_EQ(found.at("victims").size(), 3u);
    for (const json& victim : found.at("victims")) {
      ASSERT_EQ(victim.at("candidates").size(), 3u);
      EXPECT_LE(victim.at("candidates").at(0).at("rank"), victim.at("candidates").at(1).at("rank"));
      for (const json& candidate : victim.at("candidates"))
        EXPECT_TRUE(RecordPattern::parse(kPattern).matches(candidate.at("text").get<std::string>()));
    }
    // The truth adds scores and changes nothing else.
    flags.insert(flags.end(), {"--truth", place_.path("fed.truth.json")});
    json scored = attack(flags).json();
    EXPECT_GE(scored.at("scores").at("top_50"), 0.0);
    scored["scores"] = json::object();
    EXPECT_EQ(scored, found);
  }
}

// The published formula asks the last model alone, the wide one those of the last few rounds.
TEST_F(Records, BothFormulasAreThere) {
  federate();
  const json wide =
      attack({"--method", "eavesdrop", "--json", "--candidates", "20", "--formula", "wide"}).json();
  const json paper = attack({"--method", "eavesdrop", "--json", "--candidates", "20"}).json();
  EXPECT_EQ(paper.at("searched"), json({8, 8}));
  EXPECT_EQ(wide.at("searched"), json({1, 8}));
  EXPECT_EQ(paper.at("victims").at(0).at("candidates_in_all"), 20);
  EXPECT_GT(wide.at("victims").at(0).at("candidates_in_all"), 20);
  for (const json& candidate : paper.at("victims").at(0).at("candidates"))
    EXPECT_TRUE(candidate.contains("bits"));
  // The baseline is the published one in either case.
  const std::vector<std::string> baseline = {"--method", "baseline", "--json"};
  EXPECT_EQ(attack(baseline).json().at("searched"), json({8, 8}));
}

TEST_F(Records, MistakesAreToldInOneLine) {
  federate();
  EXPECT_NE(complaint({}, "my pin").find("nothing free"), std::string::npos);
  EXPECT_NE(complaint({"--victim", "3"}).find("there is no client 3; expected 0 to 2"), std::string::npos);
  EXPECT_NE(complaint({"--method", "watermark"}).find("expected --watermark TEXT"), std::string::npos);
  EXPECT_NE(complaint({"--until", "9"}).find("has 8 rounds"), std::string::npos);
  place_.write("truth.txt", "pin 123\n");
  EXPECT_NE(
      complaint({"--truth", place_.path("truth.txt")}).find("truth.txt: there is no true record of client 1"),
      std::string::npos);
}

TEST_F(Records, SnapshotsThatDoNotBelongTogetherAreRefused) {
  federate();
  const fs::path third = round_file(place_ / "fed", 3);
  const fs::path aside = place_ / "third";
  fs::rename(third, aside);
  EXPECT_NE(complaint({}).find("003.safetensors"), std::string::npos) << "a gap";
  fs::copy_file(round_file(place_ / "fed", 4), third);
  EXPECT_NE(complaint({}).find("003.safetensors"), std::string::npos) << "another round's";
  fs::remove(third);
  fs::rename(aside, third);
  EXPECT_EQ(attack({}).code, 0);
  save_model("other", 2);
  fs::copy_file(place_ / "other/model.safetensors", place_ / "fed/model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(complaint({}).find("that federation.json names"), std::string::npos) << "another model's";
}

}  // namespace
}  // namespace undertext
