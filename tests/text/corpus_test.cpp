#include "text/corpus.h"

#include "temporary_folder.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

using Words = std::vector<std::string>;

class Corpus : public TemporaryFolder {
 protected:
  Corpus() : vocabulary_({"</S>", "<S>", "<UNK>", "see", "you", "soon"}) {}

  std::string error_of(std::string_view content) const {
    const auto file = write("texts.txt", content);
    const std::string message = user_error([&] { read_sentences(file, vocabulary_); });
    EXPECT_EQ(message.find(file.string()), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }

  Vocabulary vocabulary_;
};

TEST_F(Corpus, ReadsOneSentenceALine) {
  const auto file = write("texts.txt",
                          "\xEF\xBB\xBF"
                          "See you soon!\r\n\r\n   \n\tyou there\nsoon");
  EXPECT_EQ(read_lines(file), (Words{"See you soon!", "you there", "soon"}));
  EXPECT_EQ(read_sentences(file, vocabulary_), (std::vector<Sentence>{{3, 4, 5}, {4, 2}, {5}}));
}

TEST_F(Corpus, KeepsRepeatsAndOrder) {
  const auto file = write("texts.txt", "soon\nsee\nsoon\n");
  EXPECT_EQ(read_sentences(file, vocabulary_), (std::vector<Sentence>{{5}, {3}, {5}}));
}

TEST_F(Corpus, RefusesTextWithoutWords) {
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
  EXPECT_NE(error_of(" \n\r\n\t\n").find("blank"), std::string::npos);
  EXPECT_NE(error_of("see\n\n...\n").find("line 3 holds no word"), std::string::npos);
}

TEST_F(Corpus, RefusesWhatIsNotText) {
  EXPECT_NE(error_of("see\ncaf\xE9 you\n").find("line 2 is not UTF-8 (byte 0xe9)"), std::string::npos);
  EXPECT_NE(error_of("\xFF\xFEs\0e\0").find("line 1 is not UTF-8"), std::string::npos);
  EXPECT_NE(error_of(std::string("see\nyou\0soon\n", 13)).find("line 2 holds a NUL byte"), std::string::npos);
}

TEST_F(Corpus, ReadsOneEntityALine) {
  const EntityFinder finder = read_entities(write("entities.txt", "Andrew Fastow\r\n\n  (gas) plant\n"));
  const std::vector<Entity> found = finder.find("see andrew FASTOW at Robert's gas plant in Houston");
  ASSERT_EQ(found.size(), 2u) << "what is not listed does not count";
  EXPECT_EQ(found[0].text, "andrew fastow");
  EXPECT_EQ(found[1].text, "gas plant");
  const auto error_of_entities = [&](std::string_view content) {
    return user_error([&] { read_entities(write("entities.txt", content)); });
  };
  EXPECT_NE(error_of_entities("").find("the file is empty; expected text, one named entity a line"),
            std::string::npos);
  EXPECT_NE(error_of_entities("enron\n\n...\n").find("line 3 holds no word"), std::string::npos);
  EXPECT_NE(error_of_entities("caf\xE9\n").find("line 1 is not UTF-8"), std::string::npos);
  EXPECT_FALSE(user_error([&] { read_entities(write("here", "x").parent_path() / "missing"); }).empty());
}

TEST_F(Corpus, RefusesOverlongLines) {
  EXPECT_NE(error_of("see\n" + std::string(1'000'001, 'x')).find("line 2 has 1000001 bytes"),
            std::string::npos);
  std::string many = "see\n\n";
  for (int i = 0; i < 10'001; ++i) many += "you ";
  EXPECT_NE(error_of(many).find("line 3 has 10001 words"), std::string::npos);
  many.resize(many.size() - 4);
  EXPECT_EQ(read_sentences(write("texts.txt", many), vocabulary_)[1].size(), 10'000u);
}

TEST_F(Corpus, ReportsAFileThatIsNotThere) {
  const std::string message = user_error([&] { read_lines(folder_ / "no.txt"); });
  EXPECT_NE(message.find("no.txt"), std::string::npos);
}

TEST_F(Corpus, ReadsTokenIds) {
  const auto file = write("ids.txt", "[3, 4]\r\n\n  [0]\n[5,5,5]");
  EXPECT_EQ(read_ids(file, 6), (std::vector<Sentence>{{3, 4}, {0}, {5, 5, 5}}));
}

TEST_F(Corpus, NamesTheLineOfAWrongId) {
  std::string many = "[0";
  for (int i = 0; i < 10'000; ++i) many += ",0";
  const std::pair<std::string, const char*> cases[] = {
      {"", "the file is empty; expected text, one list of token ids a line"},
      {"\n \n", "all lines are blank"},
      {"[1]\n\n3 4\n", "line 3 is not a list of token ids"},
      {"[1]\n[1, 2\n", "line 2 is not a list of token ids"},
      {"[]", "line 1 is not a list of token ids"},
      {"{\"a\": 1}", "line 1 is not a list of token ids"},
      {std::string(100'000, '['), "line 1 is not a list of token ids"},
      {"[1]\n[5, 6]", "line 2 holds 6; expected ids from 0 to 5"},
      {"[-1]", "line 1 holds -1; expected ids from 0 to 5"},
      {"[1.5]", "line 1 holds 1.5; expected ids from 0 to 5"},
      {"[18446744073709551615]", "line 1 holds 18446744073709551615"},
      {"[1e400]", "line 1 is not a list of token ids"},
      {"[\"1\"]", "line 1 holds what is no number"},
      {"[[1]]", "line 1 holds what is no number"},
      {"[1]\n\xFF", "line 2 is not UTF-8"},
      {many + "]", "line 1 has 10001 ids"},
  };
  for (const auto& [content, expected] : cases) {
    const auto file = write("ids.txt", content);
    const std::string message = user_error([&] { read_ids(file, 6); });
    EXPECT_EQ(message.find(file.string()), 0u) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace undertext
