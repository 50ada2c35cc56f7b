#include "audit/records_audit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/output_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "report/findings.h"
#include "report/results.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

using nlohmann::json;

class RecordsAudit : public testing::Test {
 protected:
  RecordsAudit() {
    options_.pattern = "code {dd}";
    options_.clients = 3;
    options_.rounds = 3;
    options_.per_client = 900;
    options_.sequence = 50;
    options_.epochs = 1;
    options_.defences = {"noised-embedding:sigma=1"};
  }

  RecordsAuditOptions options_;
};

TEST_F(RecordsAudit, ReportsEveryMethodUnderEveryDefence) {
  const json document = run_records_audit(options_);
  const Results results = parse_results(document);
  EXPECT_TRUE(results.of_records());
  ASSERT_EQ(results.rows.size(), 2u * 4);
  for (const ResultRow& row : results.rows) {
    EXPECT_EQ(row.truth, 3);
    EXPECT_TRUE(row.scores.exact && row.scores.top_50 && row.scores.edits) << row.id;
    EXPECT_LT(*row.perplexity_after, *row.perplexity_before) << "it has learned something";
    EXPECT_EQ(row.threat_model, row.method == "watermark" ? "planting-client" : "client");
  }
  // Figures 2 and 3: a line for each client, a point for each round.
  ASSERT_EQ(results.curves.size(), 2u);
  for (const CorrelationCurves& curves : results.curves) {
    ASSERT_EQ(curves.clients.size(), 3u);
    for (const std::vector<double>& line : curves.clients) EXPECT_EQ(line.size(), 3u);
  }
  EXPECT_NE(findings_of(results).verdict.find("records of other clients"), std::string::npos);
  EXPECT_NE(terminal_table(document, false, 120).find("top 50"), std::string::npos);
}

TEST_F(RecordsAudit, GivesTheSameForAnyNumberOfThreads) {
  options_.defences = {"none"};
  const auto without_time = [](json document) {
    document.erase("seconds");
    for (json& row : document["rows"]) {
      row.erase("seconds");
      row.erase("training_seconds");
    }
    return document;
  };
  set_threads(1);
  const json one = without_time(run_records_audit(options_));
  set_threads(2);
  const json two = without_time(run_records_audit(options_));
  set_threads(0);
  EXPECT_EQ(one, two);
}

TEST_F(RecordsAudit, TakesTheUsersTextsAndRefusesTooLittle) {
  const TemporaryFolder folder;
  write_file(folder / "texts.txt", "only a line\nand one more\n");
  options_.texts = folder / "texts.txt";
  EXPECT_THROW(run_records_audit(options_), UserError);
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the meeting is moved to room " + std::to_string(i) + "\n";
  write_file(folder / "texts.txt", text);
  options_.defences = {"none"};
  EXPECT_EQ(parse_results(run_records_audit(options_)).rows.size(), 4u);
}

}  // namespace
}  // namespace undertext
