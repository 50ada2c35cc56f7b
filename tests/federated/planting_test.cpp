#include "federated/planting.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

TEST(Planting, EveryClientGetsARecordOfItsOwn) {
  const RecordPattern pattern = RecordPattern::parse("my number is {ddd}-{dd}-{dddd}");
  const PlantedTexts drawn = draw_records(pattern, 5, 8, Seed(1));
  EXPECT_EQ(drawn.pattern, "my number is {ddd}-{dd}-{dddd}");
  std::set<std::string> seen;
  for (std::size_t client = 0; client < 5; ++client) {
    const PlantedText& one = drawn.texts.at(client);
    EXPECT_EQ(one.client, static_cast<std::int64_t>(client));
    EXPECT_EQ(one.times, 8);
    EXPECT_TRUE(pattern.matches(one.text)) << one.text;
    seen.insert(one.text);
  }
  EXPECT_EQ(seen.size(), 5u);
  // A client's record does not hang on how many others there are.
  EXPECT_EQ(draw_records(pattern, 2, 8, Seed(1)).texts[1].text, drawn.texts[1].text);
  EXPECT_NE(draw_records(pattern, 2, 8, Seed(2)).texts[1].text, drawn.texts[1].text);
}

TEST(Planting, WatermarksAreWordsOfNoPattern) {
  const PlantedTexts drawn = draw_watermarks(40, 50, 1, Seed(1));
  std::set<std::string> seen;
  for (const PlantedText& one : drawn.texts) {
    EXPECT_EQ(one.text.size(), 40u);
    EXPECT_EQ(one.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz "), std::string::npos);
    EXPECT_EQ(one.text.find("  "), std::string::npos);
    EXPECT_NE(one.text.front(), ' ');
    EXPECT_NE(one.text.back(), ' ');
    seen.insert(one.text);
  }
  EXPECT_EQ(seen.size(), 50u);
}

TEST(Planting, LinesStayInTheirOrderAndThePlacesDiffer) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back("line " + std::to_string(i));
  std::set<std::vector<std::string>> ways;
  for (std::int64_t client = 0; client < 5; ++client) {
    std::vector<std::string> planted = with_planted(lines, {client, "secret", 8}, Seed(1));
    EXPECT_EQ(planted.size(), 108u);
    EXPECT_EQ(std::ranges::count(planted, "secret"), 8);
    EXPECT_TRUE(ways.insert(planted).second);
    std::erase(planted, "secret");
    EXPECT_EQ(planted, lines);
  }
  EXPECT_EQ(with_planted({}, {0, "secret", 2}, Seed(1)), (std::vector<std::string>{"secret", "secret"}));
}

TEST(Planting, FilesAreReadAsWritten) {
  const TemporaryFolder folder;
  const PlantedTexts drawn = draw_records(RecordPattern::parse("pin {dddd}"), 3, 2, Seed(1));
  write_planted(drawn, folder / "truth.json");
  const PlantedTexts read = read_planted(folder / "truth.json");
  EXPECT_EQ(read.pattern, drawn.pattern);
  ASSERT_EQ(read.texts.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.texts[i].client, drawn.texts[i].client);
    EXPECT_EQ(read.texts[i].text, drawn.texts[i].text);
    EXPECT_EQ(read.texts[i].times, 2);
  }
}

TEST(Planting, HostileFilesAreTold) {
  const TemporaryFolder folder;
  for (const char* content :
       {"", "[]", "{", R"({"format":"undertext-planted-2","pattern":"","texts":[]})",
        R"({"format":"undertext-planted-1","pattern":3,"texts":[]})",
        R"({"format":"undertext-planted-1","pattern":"","texts":{}})",
        R"({"format":"undertext-planted-1","pattern":"","texts":[3]})",
        R"({"format":"undertext-planted-1","pattern":"","texts":[{"client":-1,"text":"a","times":1}]})",
        R"({"format":"undertext-planted-1","pattern":"","texts":[{"client":0,"text":"","times":1}]})",
        R"({"format":"undertext-planted-1","pattern":"","texts":[{"client":0,"text":"a"}]})"}) {
    write_file(folder / "truth.json", content);
    EXPECT_THROW(read_planted(folder / "truth.json"), UserError) << content;
  }
}

}  // namespace
}  // namespace undertext
