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

}  // namespace
}  // namespace undertext
