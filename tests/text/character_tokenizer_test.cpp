#include "text/character_tokenizer.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

TEST(Characters, OneTokenEach) {
  const std::vector<std::string> texts = {"b\u00E9\n", "ab\xFF\U0001F600"};
  const CharacterTokenizer tokenizer = build_characters(texts);  // U+FFFD, line feed, a, b, e acute, the face
  EXPECT_EQ(tokenizer.size(), 6);
  EXPECT_EQ(tokenizer.special().unknown, 0);
  EXPECT_EQ(tokenizer.encode("ab\u00E9\n\U0001F600x\xFF"), (Sentence{2, 3, 4, 1, 5, 0, 0}));
  EXPECT_EQ(tokenizer.decode(Sentence{2, 4, 0, 5}), "a\u00E9\uFFFD\U0001F600");
  EXPECT_EQ(tokenizer.token(4), "\u00E9");
}

TEST(Characters, TheUnknownOneIsAlwaysThere) {
  EXPECT_EQ(build_characters({}).size(), 1);
  EXPECT_EQ(CharacterTokenizer::parse(R"(["a","b"])", "f").encode("bx"), (Sentence{1, 2}));
  EXPECT_EQ(CharacterTokenizer::parse(R"(["a","\ufffd","b"])", "f").encode("bx"), (Sentence{2, 1}));
}

class CharacterFiles : public TemporaryFolder {};

TEST_F(CharacterFiles, ComeBackAsTheyWereSaved) {
  const std::vector<std::string> texts = {std::string("a\0\"\\\n\u4E16", 8)};
  const CharacterTokenizer saved = build_characters(texts);
  saved.save(folder_);
  const auto loaded = load_tokenizer(folder_);
  EXPECT_EQ(all_tokens(*loaded), all_tokens(saved));
  EXPECT_EQ(loaded->encode(texts[0]), saved.encode(texts[0]));
}

}  // namespace
}  // namespace undertext
