#include "audit/keyboard_audit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "audit/output_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"
#include "report/results.h"
#include "small_audit.h"

namespace undertext {
namespace {

using nlohmann::json;

class KeyboardAudit : public testing::Test {
 protected:
  KeyboardAudit() : options_(small_audit(folder_ / "cache", notes_)) {}

  TemporaryFolder folder_;
  std::vector<std::string> notes_;
  AuditOptions options_;
};

// Scored in words, whatever the letters are: a set of letters is no set of words.
TEST_F(KeyboardAudit, TriesAModelOfLetters) {
  options_.sizes = options_.defended_sizes = {4};
  options_.defences = {"characters"};
  const json results = run_keyboard_audit(options_);
  std::set<std::string> attacks;
  for (const ResultRow& row : parse_results(results).rows) {
    if (row.defence.none()) continue;
    EXPECT_EQ(row.defence.kind, "characters");
    EXPECT_EQ(row.method, "best");
    EXPECT_TRUE(row.perplexity_after.has_value());
    if (row.attack == "words") {
      EXPECT_LT(*row.scores.f1, 1);  // nothing can be read of so raw a model
    }
    attacks.insert(row.attack);
  }
  EXPECT_EQ(attacks, (std::set<std::string>{"words", "sentences"}));
}

TEST_F(KeyboardAudit, GivesWholeResultsAndAPage) {
  const json results = run_keyboard_audit(options_);
  const Results parsed = parse_results(results);
  // Per client: FedSGD 4 rows and, under noise, 5 with the oracle's; FedAvg with 2 epochs likewise. One epoch
  // in batches of five is FedSGD for the client of four.
  EXPECT_EQ(parsed.rows.size(), 2 * (4 + 5 + 4 + 5) + 4);
  EXPECT_EQ(parsed.samples.size(), 2 * (2 * 4) + 2);
  std::set<std::string> protocols_of_four;
  for (const ResultRow& row : parsed.rows) {
    EXPECT_TRUE(row.perplexity_before && row.perplexity_after) << row.id;
    EXPECT_EQ(row.certified.has_value(), row.sentences() && row.method == "best") << row.id;
    if (row.messages == 4) protocols_of_four.insert(row.protocol.name + std::to_string(row.protocol.epochs));
  }
  EXPECT_EQ(protocols_of_four, (std::set<std::string>{"FedSGD1", "FedAvg2"}));
  for (const Sample& sample : parsed.samples) {
    std::int64_t truths = 0;
    for (const MessagePair& pair : sample.pairs) truths += pair.truth.has_value();
    EXPECT_EQ(truths, sample.row.starts_with("n4-") ? 4 : 6) << sample.row;
  }

  const OutputFolder out(folder_ / "out");
  out.write(results);
  EXPECT_EQ(read_results(folder_ / "out" / "results.json"), results);
  EXPECT_NE(read_file(folder_ / "out" / "report.html").find("</html>"), std::string::npos);
}

json without_times(json results) {
  results["seconds"] = 0;
  for (json& row : results["rows"]) row["seconds"] = row["training_seconds"] = 0;
  return results;
}

TEST_F(KeyboardAudit, IsTheSameForTheSameSeedWhateverTheThreadsAndTheCache) {
  json runs[3];
  for (const int i : {0, 1, 2}) {
    set_threads(i == 1 ? 1 : 2);
    options_.seed = i == 2 ? 5 : 1;
    runs[i] = without_times(run_keyboard_audit(options_));
  }
  set_threads(0);
  EXPECT_EQ(notes_.size(), 1) << "trained once";
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0]["samples"], runs[2]["samples"]) << "other messages";
}

TEST_F(KeyboardAudit, TakesTheUsersModelAndTexts) {
  public_model(options_.recipe, options_.cache, [](const std::string&) {});
  options_.model = std::filesystem::directory_iterator(folder_ / "cache")->path();
  options_.texts = folder_ / "texts.txt";
  options_.sizes = {2, 30};
  options_.protocols = {{"FedSGD", 1, 0, {}}};
  write_file(*options_.texts, "see you soon\nwhere are you\nI am at home\ncall me\n");
  const json results = run_keyboard_audit(options_);
  ASSERT_EQ(notes_.size(), 1);
  EXPECT_NE(notes_[0].find("a client of 30 is skipped"), std::string::npos);
  EXPECT_EQ(results.at("rows").size(), 4);
  EXPECT_EQ(results.at("rows")[0].at("messages"), 2);
  EXPECT_TRUE(results.at("rows")[0].at("utility").at("perplexity_after").is_number());

  // Too few for any size: one client with all, and nothing left to measure the utility on.
  notes_.clear();
  options_.sizes = {30};
  const json all = run_keyboard_audit(options_);
  EXPECT_EQ(all.at("rows")[0].at("messages"), 4);
  EXPECT_TRUE(all.at("rows")[0].at("utility").at("perplexity_after").is_null());
  EXPECT_EQ(notes_.size(), 3);
  parse_results(all);
}

TEST(OutputFolder, LeavesNothingWhenNothingCameOfIt) {
  const TemporaryFolder folder;
  { const OutputFolder out(folder / "out"); }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  {
    const OutputFolder out(folder / "out");
    EXPECT_THROW(out.write(json::object()), UserError);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  EXPECT_THROW(OutputFolder(folder / "no" / "out"), UserError);
}

}  // namespace
}  // namespace undertext
