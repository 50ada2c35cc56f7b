#include "audit/transformer_audit.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "audit/output_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "models/cifg_lstm.h"
#include "report/findings.h"
#include "report/results.h"
#include "report/terminal_table.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

using nlohmann::json;

// The small encoder with random weights, two small clients, a few steps of matching.
class TransformerAudit : public testing::Test {
 protected:
  TransformerAudit() {
    options_.cache = std::nullopt;
    options_.recipe = *recipe_named("built-in:transformer");
    options_.recipe.messages = 500;
    options_.sizes = {1, 3};
    options_.length = 12;
    options_.standard_defences = {"clipping:clip=1", "noise-on-result:sigma=0.1,clip=1"};
    options_.held_out = 20;
    options_.utility_rounds = 2;
    options_.utility_sequences = 2;
    options_.matching_steps = 8;
    options_.note = [this](const std::string& text) { notes_.push_back(text); };
  }

  TransformerAuditOptions options_;
  std::vector<std::string> notes_;
  TemporaryFolder folder_;
};

TEST_F(TransformerAudit, SetsTwoServersSideBySide) {
  const json document = run_transformer_audit(options_);
  const Results results = parse_results(document);
  EXPECT_TRUE(results.of_sequences());
  // Per client and defence the bag of words twice and both designs; TAG and DLG on the smallest client.
  EXPECT_EQ(results.rows.size(), 2 * 3 * 4 + 2);
  std::map<std::string, double> place;
  for (const ResultRow& row : results.rows) {
    EXPECT_TRUE(row.perplexity_before && row.perplexity_after) << row.id;
    if (row.scores.total_accuracy) place[row.id] = *row.scores.total_accuracy;
    const bool matching = row.method == "tag" || row.method == "dlg";
    EXPECT_EQ(row.threat_model == "malicious-server", row.sentences() && !matching) << row.id;
    EXPECT_EQ(row.certified.has_value(), row.sentences() && !matching) << row.id;
  }
  EXPECT_GT(place.at("n3-malicious-sentences-best"), 0.99);
  EXPECT_GT(place.at("n3-malicious-clipping:clip=1-sentences-best"), 0.99) << "clipping changes no direction";
  EXPECT_GT(place.at("n3-malicious-sentences-paper"), 0.5);
  EXPECT_LT(place.at("n1-curious-sentences-dlg"), place.at("n1-malicious-sentences-best"));
  EXPECT_LT(place.at("n3-malicious-noise-on-result:sigma=0.1,clip=1-sentences-best"), 0.1);
  const ResultRow& strongest = strongest_row(results);
  EXPECT_EQ(strongest.id, "n3-malicious-sentences-best");
  EXPECT_NE(
      findings_of(results).verdict.find("reads 100% of the tokens in their place, and 3 of 3 sequences"),
      std::string::npos)
      << findings_of(results).verdict;
  const std::string table = terminal_table(document, false, 0);
  EXPECT_NE(table.find("in place"), std::string::npos);
  EXPECT_NE(table.find("Malicious server"), std::string::npos);

  const OutputFolder out(folder_ / "out");
  out.write(document);
  EXPECT_EQ(read_results(folder_ / "out" / "results.json"), document);
}

json without_times(json results) {
  results["seconds"] = 0;
  for (json& row : results["rows"]) row["seconds"] = row["training_seconds"] = 0;
  return results;
}

TEST_F(TransformerAudit, IsTheSameForTheSameSeedWhateverTheThreads) {
  options_.sizes = {2};
  options_.matching_parameters = 0;
  json runs[3];
  for (const int i : {0, 1, 2}) {
    set_threads(i == 1 ? 1 : 2);
    options_.seed = i == 2 ? 5 : 1;
    runs[i] = without_times(run_transformer_audit(options_));
  }
  set_threads(0);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0]["samples"], runs[2]["samples"]) << "other texts";
  ASSERT_FALSE(notes_.empty());
  EXPECT_NE(notes_[0].find("DLG and TAG are not tried"), std::string::npos);
}

TEST_F(TransformerAudit, ReadsSentencesOfCausalModelsByFilm) {
  options_.recipe = *recipe_named("built-in:gpt2-2x128");
  options_.recipe.messages = 500;
  options_.matching_parameters = 0;
  options_.film_sequences = 1;
  options_.standard_defences = {"noise-on-result:sigma=0.1,clip=1"};
  const Results results = parse_results(run_transformer_audit(options_));
  std::map<std::string, std::string> threat;
  for (const ResultRow& row : results.rows)
    if (row.method == "film") threat[row.id] = row.threat_model;
  EXPECT_EQ(threat, (std::map<std::string, std::string>{
                        {"n1-curious-sentences-film", "curious-server"},
                        {"n1-curious-noise-on-result:sigma=0.1,clip=1-sentences-film", "curious-server"}}));
}

TEST_F(TransformerAudit, TakesTheUsersTexts) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "see you at home tomorrow\n";
  write_file(folder_ / "texts.txt", lines);
  options_.texts = folder_ / "texts.txt";
  options_.matching_parameters = 0;
  options_.defences = {{"none"}};
  options_.sizes = {2, 100};
  const Results results = parse_results(run_transformer_audit(options_));
  EXPECT_EQ(results.rows.size(), 4u);
  bool told = false;
  for (const std::string& note : notes_) told |= note.find("a client of 100 is skipped") != std::string::npos;
  EXPECT_TRUE(told);
  options_.sizes = {100};
  EXPECT_THROW(run_transformer_audit(options_), UserError);
}

TEST_F(TransformerAudit, RefusesAKeyboard) {
  const Vocabulary vocabulary({"</S>", "<S>", "<UNK>", "a", "b"});
  std::filesystem::create_directory(folder_ / "model");
  CifgLstm::random({.vocabulary = 5, .embedding = 4, .units = 6, .end = 0, .start = 1, .unknown = 2}, Seed(1))
      ->save(folder_ / "model");
  vocabulary.save(folder_ / "model");
  options_.model = folder_ / "model";
  EXPECT_THROW(run_transformer_audit(options_), UserError);
}

}  // namespace
}  // namespace undertext
