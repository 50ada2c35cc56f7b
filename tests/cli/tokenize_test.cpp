#include <gtest/gtest.h>

#include "program.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(Tokenize, ShowsTokensForPeopleAndIdsForPrograms) {
  const Workplace place;
  const std::string texts = place.write("lines.txt", "  ab a\r\n\n \t\nxb\n");
  std::filesystem::create_directory(place / "characters");
  place.write("characters/characters.json", R"(["a", "b", " "])");
  std::vector<std::string> flags = {"tokenize", "--model", place.path("characters"), "--texts", texts};
  const Outcome people = undertext_run(flags);
  EXPECT_EQ(people.code, 0) << people.err;
  EXPECT_EQ(people.out, " count  tokens\n     4  a b \" \" a\n     2  \uFFFD b\n");
  flags.push_back("--json");
  EXPECT_EQ(undertext_run(flags).json(), json::parse(R"({"sequences": [[0, 1, 2, 0], [3, 1]]})"));
}

TEST(Tokenize, ComplainsInOneLine) {
  const Workplace place;
  std::filesystem::create_directory(place / "nothing");
  for (const std::string& model : {place.path("nothing"), place.path("nowhere"), place.path("texts.txt")}) {
    const Outcome run = undertext_run({"tokenize", "--model", model, "--texts", place.path("texts.txt")});
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(one_line(run.err)) << run.err;
    EXPECT_NE(run.err.find(model), std::string::npos) << run.err;
  }
}

// Ids that tokenize printed are as good as the texts they came from.
TEST(Ids, StandForTexts) {
  const Workplace place;
  const json found = undertext_run({"tokenize", "--model", place.path("model"), "--texts",
                                    place.path("texts.txt"), "--json"})
                         .json();
  std::string lines;
  for (const json& ids : found.at("sequences")) lines += ids.dump() + "\n";
  const std::string ids = place.write("ids.txt", lines);

  const std::string update = place.make_update("by_texts");
  const Outcome client =
      undertext_run({"client", "--model", place.path("model"), "--ids", ids, "--out", place.path("by_ids")});
  EXPECT_EQ(client.code, 0) << client.err;
  EXPECT_EQ(place.read("by_ids"), place.read("by_texts"));

  const auto scores = [&](const std::string& flag, const std::string& file) {
    return undertext_run({"attack", "words", "--model", place.path("model"), "--update", update, "--cutoff",
                          "oracle", flag, file, "--json"})
        .json();
  };
  EXPECT_EQ(scores("--truth-ids", ids), scores("--truth", place.path("texts.txt")));
}

TEST(Ids, AreOneOfTwoFlags) {
  const Workplace place;
  const std::string ids = place.write("ids.txt", "[3, 4]\n");
  std::vector<std::string> flags = {"client", "--model", place.path("model"), "--out", place.path("out")};
  const Outcome neither = undertext_run(flags);
  EXPECT_EQ(neither.code, 2);
  EXPECT_NE(neither.err.find("--texts or --ids is required"), std::string::npos) << neither.err;
  flags.insert(flags.end(), {"--ids", ids, "--texts", place.path("texts.txt")});
  const Outcome both = undertext_run(flags);
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(one_line(both.err)) << both.err;
  EXPECT_NE(both.err.find("--texts excludes --ids"), std::string::npos) << both.err;

  place.write("ids.txt", "[3]\n[40]\n");  // the model has 40 words
  flags.resize(flags.size() - 2);
  const Outcome beyond = undertext_run(flags);
  EXPECT_EQ(beyond.code, 2);
  EXPECT_NE(beyond.err.find("ids.txt: line 2 holds 40; expected ids from 0 to 39"), std::string::npos)
      << beyond.err;
}

}  // namespace
}  // namespace undertext
