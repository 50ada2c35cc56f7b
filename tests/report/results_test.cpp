#include "report/results.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "fixture.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string complaint(const json& document) {
  try {
    parse_results(document, "some/results.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Every path to a member of an object in the document, arrays by their first element.
void collect_members(const json& value, const json::json_pointer& at,
                     std::vector<json::json_pointer>& paths) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      paths.push_back(at / key);
      collect_members(child, at / key, paths);
    }
  } else if (value.is_array() && !value.empty()) {
    collect_members(value[0], at / 0, paths);
  }
}

// The counts stand in the row as well as in its scores, and the report reads the row's.
bool not_read(const json::json_pointer& path) {
  return path.parent_pointer().to_string().ends_with("/scores") &&
         (path.back() == "recovered" || path.back() == "truth");
}

TEST(Results, ReadsEveryField) {
  const Results results = parse_results(fixture::smallest());
  EXPECT_EQ(results.preset, "keyboard");
  EXPECT_EQ(results.seed, 1u);
  EXPECT_EQ(results.model.parameters, 1200000);
  ASSERT_EQ(results.rows.size(), 1u);
  const ResultRow& row = results.rows[0];
  EXPECT_TRUE(row.sentences());
  EXPECT_EQ(row.messages, 16);
  EXPECT_EQ(row.protocol.batch, 16);
  EXPECT_TRUE(row.defence.none());
  EXPECT_TRUE(row.adaptive());
  EXPECT_EQ(row.training_seconds, std::optional(0.2));
  EXPECT_EQ(row.certified, std::optional(true));
  EXPECT_EQ(row.scores.exact, std::optional(1.0));
  EXPECT_FALSE(row.scores.f1.has_value());
  EXPECT_EQ(row.exact_count(), 16);
  EXPECT_EQ(results.threat_model(row).name, "Curious server");
  ASSERT_EQ(results.samples.size(), 1u);
  EXPECT_EQ(results.samples[0].pairs.size(), 16u);
  ASSERT_EQ(results.impossible.size(), 1u);
  EXPECT_EQ(results.impossible[0].defence.spec, "characters");
  EXPECT_EQ(results.privacy.at(0).spec, "dpsgd:clip=1,sigma=0.5");
}

TEST(Results, NamesWhateverIsMissing) {
  std::vector<json::json_pointer> paths;
  collect_members(fixture::smallest(), json::json_pointer(), paths);
  EXPECT_GT(paths.size(), 55u);
  for (const json::json_pointer& path : paths) {
    const std::string key = path.back();
    if (not_read(path)) continue;
    json broken = fixture::smallest();
    broken[path.parent_pointer()].erase(key);
    const std::string what = complaint(broken);
    EXPECT_TRUE(what.starts_with("some/results.json: ")) << path;
    EXPECT_NE(what.find(key + " is missing"), std::string::npos) << path << ": " << what;
    EXPECT_EQ(what.find('\n'), std::string::npos);
  }
}

TEST(Results, RefusesWrongTypesEverywhere) {
  std::vector<json::json_pointer> paths;
  collect_members(fixture::smallest(), json::json_pointer(), paths);
  for (const json::json_pointer& path : paths) {
    if (not_read(path)) continue;
    for (const json& wrong : {json::array({json::array()}), json(-3.5), json({{"a", 1}})}) {
      json broken = fixture::smallest();
      broken[path] = wrong;
      EXPECT_NE(complaint(broken), "") << path << " = " << wrong;
    }
  }
}

TEST(Results, NamesThePlaceAndWhatWasExpected) {
  json broken = fixture::results();
  broken["rows"][3]["scores"]["exact"] = 1.5;
  EXPECT_EQ(complaint(broken),
            "some/results.json: rows[3].scores.exact is 1.5, expected a number from 0 to 1");
  broken = fixture::results();
  broken["rows"][5]["threat_model"] = "stranger";
  EXPECT_EQ(complaint(broken),
            "some/results.json: rows[5].threat_model is \"stranger\", expected the id of a threat model");
  broken = fixture::results();
  broken["rows"][1]["id"] = broken["rows"][0]["id"];
  EXPECT_NE(complaint(broken).find("rows[1].id"), std::string::npos);
  broken = fixture::results();
  broken["samples"][2]["row"] = "gone";
  EXPECT_NE(complaint(broken).find("samples[2].row is \"gone\""), std::string::npos);
  broken = fixture::results();
  broken["rows"] = json::array();
  EXPECT_NE(complaint(broken).find("at least one row"), std::string::npos);
  broken = fixture::results();
  broken["format_version"] = 1;
  EXPECT_EQ(
      complaint(broken),
      "some/results.json: results of format 1, which this version does not read, expected format 2: run "
      "the audit again");
  broken["format_version"] = 3;
  EXPECT_NE(complaint(broken).find("a newer undertext wrote them"), std::string::npos);
  broken = fixture::results();
  broken["impossible"][0]["threat_model"] = "stranger";
  EXPECT_NE(complaint(broken).find("impossible[0].threat_model is \"stranger\""), std::string::npos);
  EXPECT_EQ(complaint(json::array()), "some/results.json: the document is [], expected an object");
  EXPECT_EQ(complaint(json(nullptr)), "some/results.json: the document is null, expected an object");
}

TEST(Results, RefusesNumbersThatAreNone) {
  for (const double value : {std::nan(""), HUGE_VAL, -1.0}) {
    json broken = fixture::smallest();
    broken["rows"][0]["defence"]["strength"] = value;
    EXPECT_NE(complaint(broken), "") << value;
  }
  json broken = fixture::smallest();
  broken["rows"][0]["messages"] = std::uint64_t{1} << 60;
  EXPECT_NE(complaint(broken), "");
}

TEST(Results, TakesScoresThatAreNotDefined) {
  json open = fixture::smallest();
  for (const char* key : {"exact", "word_f1", "levenshtein_paper"}) open["rows"][0]["scores"][key] = nullptr;
  open["rows"][0]["utility"]["perplexity_after"] = nullptr;
  const Results results = parse_results(open);
  EXPECT_FALSE(results.rows[0].scores.exact.has_value());
  EXPECT_FALSE(results.rows[0].perplexity_after.has_value());
}

class ResultsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "undertext-report-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(ResultsFile, IsReadWhole) {
  const auto file = folder_ / "results.json";
  std::ofstream(file) << fixture::smallest();
  EXPECT_EQ(read_results(file), fixture::smallest());
}

TEST_F(ResultsFile, IsRefusedWhenTruncated) {
  const std::string whole = fixture::smallest().dump();
  const auto file = folder_ / "results.json";
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(file, std::ios::trunc) << whole.substr(0, size);
    try {
      read_results(file);
      FAIL() << "read " << size << " of " << whole.size() << " bytes without a complaint";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST_F(ResultsFile, IsRefusedWhenAbsent) {
  EXPECT_THROW(read_results(folder_ / "none.json"), UserError);
}

}  // namespace
}  // namespace undertext
