#include "text/vocabulary.h"

#include "temporary_folder.h"

namespace undertext {
namespace {

using ::testing::Test;
using Words = std::vector<std::string>;

Vocabulary small() {
  return Vocabulary({"</S>", "<S>", "<UNK>", "I", "am", "here", "don't", "caf\u00E9", "i", "x\\y"});
}

TEST(KeyboardWords, LowersAndDropsPunctuation) {
  EXPECT_EQ(keyboard_words("Hello, World!"), (Words{"hello", "world"}));
  EXPECT_EQ(keyboard_words("a-b_c/d.e:f;g@h#i"), (Words{"a", "b", "c", "d", "e", "f", "g", "h", "I"}));
  EXPECT_EQ(keyboard_words("!\"#$%&()*+,-./:;<=>?@[]^_`{|}~"), Words{});
  EXPECT_EQ(keyboard_words("it's 6:30 \\o/"), (Words{"it's", "6", "30", "\\o"}));
}

TEST(KeyboardWords, WritesTheLoneIInUpperCase) {
  EXPECT_EQ(keyboard_words("I i, (I) i'm ii"), (Words{"I", "I", "I", "i'm", "ii"}));
}

TEST(KeyboardWords, ReadsCurlyApostrophesAndUnicodeSpaces) {
  EXPECT_EQ(keyboard_words("don\u2019t\u00A0GO\u3000CAF\u00C9"), (Words{"don't", "go", "caf\u00E9"}));
  EXPECT_EQ(keyboard_words(" \t\r\n\v\f"), Words{});
  EXPECT_EQ(keyboard_words(""), Words{});
}

TEST(KeyboardWords, CannotSpellASpecialToken) {
  EXPECT_EQ(keyboard_words("<S> </S> <UNK>"), (Words{"s", "s", "unk"}));
}

TEST(KeyboardWords, SurvivesBytesThatAreNotUtf8) {
  EXPECT_EQ(keyboard_words("a\xFF b\xE2\x82"), (Words{"a\xFF", "b\xE2\x82"}));
}

TEST(Vocabulary, EncodesAndDecodes) {
  const Vocabulary vocabulary = small();
  EXPECT_EQ(vocabulary.encode("i AM here, DON\u2019T worry"), (Sentence{3, 4, 5, 6, 2}));
  EXPECT_EQ(vocabulary.encode("Caf\u00C9 x\\y"), (Sentence{7, 9}));
  EXPECT_EQ(vocabulary.encode("..."), Sentence{});
  EXPECT_EQ(vocabulary.decode(Sentence{3, 4, 5, 2}), "I am here <UNK>");
  EXPECT_EQ(vocabulary.decode(Sentence{}), "");
  EXPECT_EQ(vocabulary.id("here"), 5);
  EXPECT_EQ(vocabulary.id("Here"), vocabulary.unknown());
  EXPECT_EQ(vocabulary.end(), 0);
  EXPECT_EQ(vocabulary.start(), 1);
  EXPECT_EQ(vocabulary.unknown(), 2);
}

TEST(Vocabulary, RefusesWordsThatCannotBeAVocabulary) {
  EXPECT_THROW(Vocabulary(Words{}), UserError);
  EXPECT_THROW(Vocabulary({"</S>", "<S>"}), UserError);
  EXPECT_THROW(Vocabulary({"</S>", "<S>", "<UNK>", "a", "a"}), UserError);
}

TEST(BuildVocabulary, RanksByFrequencyThenAlphabet) {
  const Words texts = {"I see you", "i see, you SEE", "zebra apple you"};
  const Vocabulary all = build_vocabulary(texts, 100);  // see 3, you 3, I 2, apple 1, zebra 1
  Words words;
  for (Token id = 0; id < all.size(); ++id) words.push_back(all.word(id));
  EXPECT_EQ(words, (Words{"</S>", "<S>", "<UNK>", "see", "you", "I", "apple", "zebra"}));
  EXPECT_EQ(all.encode("i see"), (Sentence{5, 3}));

  const Vocabulary cut = build_vocabulary(texts, 5);
  EXPECT_EQ(cut.size(), 5);
  EXPECT_EQ(cut.encode("i see you"), (Sentence{2, 3, 4}));
  EXPECT_EQ(build_vocabulary({}, 10).size(), 3);
}

class VocabularyFile : public TemporaryFolder {
 protected:
  std::string error_of(std::string_view content) const {
    const auto file = write("vocab.txt", content);
    const std::string message = user_error([&] { Vocabulary::load(file); });
    EXPECT_EQ(message.find(file.string()), 0u) << message;  // every error names the file first
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
};

TEST_F(VocabularyFile, SavesAndLoadsTheSameWords) {
  const Vocabulary vocabulary = small();
  vocabulary.save(folder_);
  const Vocabulary back = Vocabulary::load(folder_ / "vocab.txt");
  ASSERT_EQ(back.size(), vocabulary.size());
  for (Token id = 0; id < back.size(); ++id) EXPECT_EQ(back.word(id), vocabulary.word(id));
}

TEST_F(VocabularyFile, TheLastLineFeedMayBeMissing) {
  EXPECT_EQ(Vocabulary::load(write("vocab.txt", "</S>\n<S>\n<UNK>\nlast")).word(3), "last");
}

TEST_F(VocabularyFile, NamesTheLineThatIsWrong) {
  EXPECT_NE(error_of("</S>\n<S>\n<UNK>\na\nb\na\n").find("line 6 repeats the word 'a' of line 4"),
            std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\n\n<UNK>\n").find("line 3 is empty"), std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\n<UNK>\n\n").find("line 4 is empty"), std::string::npos);
  EXPECT_NE(error_of("</S>\r\n<S>\r\n<UNK>\r\n").find("line 1 ends in CR LF"), std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\n<UNK>\ncaf\xE9\n").find("line 4 is not UTF-8"), std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\n<UNK>\ntwo words\n").find("line 4 holds white space"), std::string::npos);
  EXPECT_NE(error_of("\xEF\xBB\xBF</S>\n<S>\n<UNK>\n").find("line 1 starts with a byte order mark"),
            std::string::npos);
  EXPECT_NE(error_of(std::string("</S>\n<S>\n<UNK>\na\0b\n", 18)).find("line 4 holds a control"),
            std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\n<UNK>\n" + std::string(5000, 'x')).find("line 4 is longer"),
            std::string::npos);
}

TEST_F(VocabularyFile, NamesTheSpecialWordThatIsMissing) {
  EXPECT_NE(error_of("</S>\n<UNK>\na\n").find("'<S>'"), std::string::npos);
  EXPECT_NE(error_of("<S>\n<UNK>\na\n").find("'</S>'"), std::string::npos);
  EXPECT_NE(error_of("</S>\n<S>\na\n").find("'<UNK>'"), std::string::npos);
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
}

TEST_F(VocabularyFile, ReportsAFileThatIsNotThere) {
  const std::string message = user_error([&] { Vocabulary::load(folder_ / "no.txt"); });
  EXPECT_NE(message.find("no.txt"), std::string::npos);
}

TEST(VocabularyOfTheKeyboard, Loads) {
  const auto file = std::filesystem::path(UNDERTEXT_SHARED) / "data/gboard/vocab.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const Vocabulary vocabulary = Vocabulary::load(file);
  EXPECT_EQ(vocabulary.size(), 9502);
  EXPECT_EQ(vocabulary.end(), 0);
  EXPECT_EQ(vocabulary.start(), 1);
  EXPECT_EQ(vocabulary.unknown(), 2);
  // The indices of Table 1.
  EXPECT_EQ(vocabulary.encode("Learning online is not so private."),
            (Sentence{7437, 4904, 209, 1808, 26, 6314}));
  EXPECT_EQ(vocabulary.encode("i"), Sentence{11});
}

}  // namespace
}  // namespace undertext
