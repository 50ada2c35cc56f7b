#include "audit/federation/federation_setup.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/experiment/schema.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

using nlohmann::json;

class FederationSetup : public ::testing::Test {
 protected:
  FederationSetup() {
    std::string text;
    for (int line = 0; line < 300; ++line) text += "Line " + std::to_string(line % 7) + " of a text\n";
    write_file(folder_ / "t.txt", text);
  }

  json cell(const std::string& text, const std::vector<std::string>& sets = {}) {
    write_file(file_, text);
    return one_federation(read_experiment({file_, "", sets}));
  }

  PreparedFederation prepared(const std::vector<std::string>& sets = {}) {
    return prepare_federation(cell(kText, sets), file_, sources_);
  }

  std::string complaint(const std::function<void()>& body) {
    try {
      body();
    } catch (const UserError& error) {
      std::string message = error.what();
      const std::string where = folder_.path().string() + "/";
      if (const std::size_t at = message.find(where); at != std::string::npos)
        message.erase(at, where.size());
      return message;
    }
    return "nothing";
  }

  static constexpr const char* kText = R"(
    [model]
    folder = "built-in:char-lstm"
    [texts]
    files = "t.txt"
    per_client = 500
    sequence = 20
    lower = true
    [federation]
    clients = 3
    rounds = 2
    per_round = 2
    batch = 8
    reduction = "mean"
    train = "all"
    [records]
    pattern = "Code {dd}Q"
    times = 3
    watermarks = 2
    [[attack]]
    method = ["paper", "best"]
  )";

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "e.toml";
  Sources sources_{[](const std::string&) {}, std::nullopt};
};

std::int64_t occurrences(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(FederationSetup, EveryRecordStandsWithItsClientAsOftenAsAsked) {
  const PreparedFederation made = prepared();
  ASSERT_EQ(made.parties.clients.size(), 3u);
  ASSERT_EQ(made.records.texts.size(), 3u);
  ASSERT_EQ(made.watermarks.texts.size(), 3u);
  for (std::size_t client = 0; client < 3; ++client) {
    const std::string text = made.tokenizer->decode(made.parties.clients[client].texts.at(0));
    for (std::size_t owner = 0; owner < 3; ++owner) {
      EXPECT_EQ(occurrences(text, made.records.texts[owner].text + "\n") +
                    (text.ends_with(made.records.texts[owner].text) ? 1 : 0),
                owner == client ? 3 : 0);
      EXPECT_EQ(occurrences(text, made.watermarks.texts[owner].text), owner == client ? 2 : 0);
    }
    // The text itself is in lower case and as long as asked, the planted lines come on top.
    EXPECT_EQ(text.find("Line"), std::string::npos);
    EXPECT_NE(text.find("line 3 of a text"), std::string::npos);
    EXPECT_GE(made.parties.clients[client].size(), 498 + 3 * 9 + 2 * 9);
    EXPECT_EQ(made.parties.clients[client].sequence, 20);
  }
  EXPECT_EQ(made.parties.model->kind(), "char-lstm");
  EXPECT_EQ(made.parties.model->vocabulary_size(), made.tokenizer->size());
  EXPECT_FALSE(made.test.empty());
  EXPECT_NO_THROW(check_federation(made.parties, made.options));
  // All of it comes from the seed.
  EXPECT_EQ(prepared().records.texts[1].text, made.records.texts[1].text);
  EXPECT_EQ(hash_of(prepared().parties.model->parameters()), hash_of(made.parties.model->parameters()));
  EXPECT_NE(hash_of(prepared({"run.seeds=2"}).parties.model->parameters()),
            hash_of(made.parties.model->parameters()));
}

// Nothing of the clients' own goes into it.
TEST_F(FederationSetup, TheAlphabetIsTheServersAndThePatterns) {
  std::string text;
  for (int line = 0; line < 40; ++line) text += "abc xyz\n";
  for (int line = 0; line < 60; ++line) text += "abc abc\n";
  write_file(folder_ / "t.txt", text);
  const PreparedFederation made = prepared({"texts.per_client=150", "records.watermarks=0"});
  std::string alphabet;
  for (Token id = 0; id < made.tokenizer->size(); ++id) alphabet += made.tokenizer->token(id);
  EXPECT_EQ(alphabet, "\xEF\xBF\xBD\n 0123456789CQabcdeo");
}

TEST_F(FederationSetup, TakesExactlyOneFederation) {
  EXPECT_NO_THROW(cell(kText));  // two attacks on one
  EXPECT_NE(complaint([&] {
              cell(kText, {"federation.epochs=[1, 2]", "run.seeds=[1, 2, 3]"});
            }).find("e.toml: 6 federations, expected one: federation.epochs, run.seed have several values"),
            std::string::npos);
  EXPECT_NE(complaint([&] { prepared({"federation.users=2"}); }).find("federation.users is 2, expected 1"),
            std::string::npos);
  EXPECT_NE(complaint([&] { prepared({"texts.length=8"}); }).find("texts.length is 8"), std::string::npos);
  EXPECT_NE(complaint([&] { prepared({"texts.files=random"}); }).find("expected lines of text"),
            std::string::npos);
}

TEST_F(FederationSetup, BuiltInMessagesAndOtherModels) {
  const PreparedFederation made = prepared({"texts.files=built-in", "records.pattern=''"});
  EXPECT_TRUE(made.records.texts.empty());
  EXPECT_EQ(made.watermarks.texts[0].text.size(), 40u);
  EXPECT_NE(complaint([&] {
              prepared({"texts.files=built-in", "texts.per_client=0"});
            }).find("texts.per_client is missing"),
            std::string::npos);
  EXPECT_NE(complaint([&] { sources_.model("built-in:char-lstm"); }).find("its alphabet is that of"),
            std::string::npos);
}

TEST_F(FederationSetup, KeysOfFederationsMeanNothingWithoutRounds) {
  EXPECT_NE(complaint([&] {
              cell("[federation]\nper_round = 2\n");
            }).find("e.toml:2: federation.per_round means nothing here, expected it with rounds above 0"),
            std::string::npos);
  EXPECT_NE(complaint([&] {
              cell("[records]\npattern = \"{d}\"\n");
            }).find("records.pattern means nothing here, expected it with federation.rounds above 0"),
            std::string::npos);
  EXPECT_NE(complaint([&] { cell("[texts]\nlower = true\n"); }).find("texts.lower means nothing here"),
            std::string::npos);
  // Where some combinations have rounds and some have none, each has what it needs, once.
  write_file(file_, "[federation]\nrounds = [0, 3]\nper_round = [1, 2]\n[records]\ntimes = [1, 2]\n");
  const ExperimentFile both = read_experiment({file_, "", {}});
  EXPECT_EQ(both.cells.size(), 5u);
  for (const json& one : both.cells) {
    const bool rounds = one.at("federation").at("rounds") > 0;
    EXPECT_EQ(one.at("federation").contains("per_round"), rounds);
    EXPECT_EQ(one.at("texts").contains("sequence"), rounds);
    EXPECT_EQ(one.at("records").size(), rounds ? 4u : 0u);
  }
}

}  // namespace
}  // namespace undertext
