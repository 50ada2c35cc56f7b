// attack film from the command line: a client's gradient in, whole texts out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "transformer_place.h"

namespace undertext {
namespace {

using nlohmann::json;

class FilmProgram : public testing::Test {
 protected:
  FilmProgram() {
    place_.write("private.txt",
                 "word3 word14 word15 word9 word26 word5\nword40 word2 word33 word8\n"
                 "word7 word50 word21 word14 word44\n");
    model_ = place_.made("gpt2");
  }

  std::string updated(const std::vector<std::string>& more = {"--gradient"}) const {
    return place_.updated(model_, "private.txt", more);
  }

  Outcome film(const std::string& update, const std::vector<std::string>& more = {}) const {
    return place_.attack("film", model_, update, more);
  }
  // With the truth, as JSON.
  json scored(const std::string& update, const std::vector<std::string>& more = {}) const {
    const Outcome run = film(update, joined({"--truth", place_.path("private.txt"), "--json"}, more));
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? run.json() : json();
  }

  static void expect_refused(const Outcome& run, const std::string& reason) {
    EXPECT_EQ(run.code, 2);
    EXPECT_TRUE(run.out.empty()) << run.out;
    EXPECT_TRUE(one_line(run.err)) << run.err;
    EXPECT_NE(run.err.find(reason), std::string::npos) << run.err;
  }

  TransformerPlace place_{{}};
  std::string model_;
};

TEST_F(FilmProgram, ReadsABatchExactlyAndScoresIt) {
  const std::string update = updated();
  const json found = scored(update);
  EXPECT_EQ(found.at("attack"), "film");
  EXPECT_EQ(found.at("method"), "best");
  EXPECT_FALSE(found.at("oracle"));
  EXPECT_TRUE(found.at("certified"));
  EXPECT_LT(found.at("residual"), 1e-4);
  EXPECT_EQ(found.at("longest"), 6);
  EXPECT_EQ(found.at("bag").size(), 14u);  // word14 comes twice
  EXPECT_EQ(found.at("threat_model"), "curious-server");
  EXPECT_EQ(found.at("entities_from"), "rules");
  std::set<std::string> texts;
  for (const json& sentence : found.at("sentences")) {
    texts.insert(sentence.at("text").get<std::string>());
    EXPECT_TRUE(sentence.at("certified"));
    for (const char* name : {"ids", "score", "confidence"}) EXPECT_TRUE(sentence.contains(name)) << name;
  }
  EXPECT_EQ(texts, (std::set<std::string>{"word3 word14 word15 word9 word26 word5",
                                          "word40 word2 word33 word8", "word7 word50 word21 word14 word44"}));
  for (const char* name : {"exact", "rouge_1", "rouge_2", "rouge_l", "rouge_1_stemmed", "rouge_2_stemmed",
                           "rouge_l_stemmed", "first_exact", "first_rouge_l", "best_exact", "best_rouge_l",
                           "recall_25", "precision_25", "bag_precision", "bag_recall", "bag_f1"})
    EXPECT_EQ(found.at("scores").at(name), 1) << name;
  EXPECT_FALSE(found.at("scores").contains("first_nerr")) << "there is no entity in these texts";

  const Outcome blind = film(update, {"--json"});
  ASSERT_EQ(blind.code, 0) << blind.err;
  EXPECT_EQ(blind.json().at("sentences"), found.at("sentences")) << "the truth changes nothing";
  EXPECT_TRUE(blind.json().at("scores").empty());
  for (const char* flag : {"--batch", "--count"}) {
    EXPECT_EQ(scored(update, {flag, "3"}), found) << "it says so itself";
    expect_refused(film(update, {flag, "4"}), "is of 3 texts");
  }
  const Outcome people = film(update, {"--truth", place_.path("private.txt")});
  for (const char* line : {"3 texts read", "certified:  yes", "1.000 of 3 true texts exact",
                           "  1.00  word40 word2 word33 word8\n"})
    EXPECT_NE(people.out.find(line), std::string::npos) << people.out;
}

TEST_F(FilmProgram, PutsTheBestFirst) {
  const json found = scored(updated({"--gradient", "--defence", "noise-on-result:sigma=0.001"}));
  EXPECT_FALSE(found.at("certified"));
  const json& sentences = found.at("sentences");
  ASSERT_GE(sentences.size(), 2u);
  for (std::size_t i = 1; i < sentences.size(); ++i)
    EXPECT_GE(sentences[i - 1].at("confidence"), sentences[i].at("confidence"));
  EXPECT_EQ(scored(updated({"--gradient", "--defence", "noise-on-result:sigma=0.001"}), {"--sentences", "1"})
                .at("sentences"),
            json::array({sentences[0]}));
}

TEST_F(FilmProgram, SearchesTheTrueBagAsPublished) {
  const std::string update = updated();
  const std::vector<std::string> paper = {"--method",    "paper", "--bag",           "oracle",
                                          "--sentences", "2",     "--reorder-steps", "3"};
  const json found = scored(update, paper);
  EXPECT_TRUE(found.at("oracle"));
  EXPECT_EQ(found.at("bag_from"), "oracle");
  EXPECT_EQ(found.at("bag").size(), 14u);
  ASSERT_EQ(found.at("sentences").size(), 2u);
  for (const json& sentence : found.at("sentences"))
    for (const json& token : sentence.at("ids"))
      EXPECT_NE(std::ranges::find(found.at("bag"), token), found.at("bag").end());
  EXPECT_FALSE(found.at("scores").contains("bag_precision")) << "a bag that was given is not recovered";
  EXPECT_GT(found.at("scores").at("first_rouge_1"), 0);
  const Outcome people = film(update, joined(paper, {"--truth", place_.path("private.txt")}));
  EXPECT_NE(people.out.find("nobody: the bag of words was given"), std::string::npos) << people.out;
  expect_refused(film(update, paper), "--bag oracle");
}

TEST_F(FilmProgram, CountsTheEntitiesOfAFile) {
  const std::string update = updated();
  const json found =
      scored(update, {"--entities", place_.write("entities.txt", "Word14 word15\n\nword40, word50\n")});
  EXPECT_EQ(found.at("entities_from"), "file");
  EXPECT_EQ(found.at("scores").at("entity_recall"), 1) << "of the one that stands in a text";
  EXPECT_EQ(found.at("scores").at("best_nerr"), 1);
  const auto with = [&](const std::string& file) {
    return film(update, {"--truth", place_.path("private.txt"), "--entities", file});
  };
  expect_refused(with(place_.write("empty.txt", "")), "the file is empty; expected text, one named entity");
  expect_refused(with(place_.write("dots.txt", "word3\n...\n")), "line 2 holds no word");
  expect_refused(with(place_.path("missing.txt")), "missing.txt");
  expect_refused(film(update, {"--entities", place_.path("entities.txt")}), "--truth");
}

TEST_F(FilmProgram, RefusesWhatItCannotRead) {
  const std::string plain = place_.made("plain");
  const std::string other = place_.updated(plain, "private.txt");
  expect_refused(place_.attack("film", plain, other), "expected gpt2");
  expect_refused(place_.attack("film", place_.path("model"), place_.make_update("keyboard.safetensors")),
                 "expected gpt2");
  expect_refused(film(updated({"--epochs", "2", "--lr", "0.1"})), "more than one step");
  expect_refused(film(updated({"--batch", "1", "--lr", "0.1"})), "more than one step");
  updated();
  const std::string whole = place_.read("update.safetensors");
  for (const std::size_t size : {whole.size() / 2, std::size_t{5}, std::size_t{0}})
    expect_refused(film(place_.write("cut.safetensors", whole.substr(0, size))), "cut.safetensors");
  ASSERT_EQ(place_.train("trained", 1).code, 0);
  expect_refused(place_.attack("film", place_.path("trained"), place_.path("update.safetensors")),
                 "of another model");
  std::string spoilt = whole;  // the last number, little-endian
  spoilt.replace(spoilt.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));
  expect_refused(film(place_.write("nan.safetensors", spoilt)), "nan.safetensors");
}

// Section 5: the bag of words stays at home, but not what other layers tell.
TEST_F(FilmProgram, ReadsOnWhereEmbeddingsAreFrozen) {
  const std::string update = updated({"--gradient", "--train", "all-but-embedding"});
  EXPECT_EQ(scored(update).at("scores").at("exact"), 1);
  const json paper = scored(update, {"--method", "paper"});
  EXPECT_EQ(paper.at("bag_from"), "none");
  EXPECT_EQ(paper.at("sentences"), json::array());
  for (const char* name : {"bag_precision", "bag_recall", "rouge_l", "first_rouge_l"})
    EXPECT_EQ(paper.at("scores").at(name), 0) << name;
  for (const char* method : {"paper", "best"}) {
    const std::vector<std::string> flags = {"--method", method, "--truth", place_.path("private.txt")};
    const Outcome people = place_.attack("words", model_, update, flags);
    EXPECT_EQ(people.code, 0) << people.err;
    EXPECT_NE(people.out.find("0 words read"), std::string::npos) << people.out;
    EXPECT_NE(people.out.find("the update does not hold the token embedding"), std::string::npos)
        << people.out;
    const json words = place_.attack("words", model_, update, joined(flags, {"--json"})).json();
    EXPECT_EQ(words.at("words"), json::array());
    EXPECT_EQ(words.at("scores").at("recall"), 0);
    EXPECT_EQ(words.at("scores").at("precision"), 0);
  }
}

}  // namespace
}  // namespace undertext
