#include "text/gpt2_words.h"

#include <gtest/gtest.h>
#include <unicode/regex.h>

#include <vector>

#include "random_text.h"

namespace undertext {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = gpt2_word_end(text, begin, UnicodeTraits::get());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

TEST(Gpt2Words, KeepsOneSpaceWithTheWord) {
  EXPECT_EQ(words_of("Hello  world 42nd!"), (Words{"Hello", " ", " world", " 42", "nd", "!"}));
  EXPECT_EQ(words_of("a\n\n b \t"), (Words{"a", "\n\n", " b", " \t"}));
  EXPECT_EQ(words_of("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
}

TEST(Gpt2Words, CutsContractions) {
  EXPECT_EQ(words_of("it's we'll 'tis 'RE 'l I'd've"),
            (Words{"it", "'s", " we", "'ll", " '", "tis", " '", "RE", " '", "l", " I", "'d", "'ve"}));
}

TEST(Gpt2Words, TakesStrayBytesForSymbols) {
  EXPECT_EQ(words_of("a\xFF\xFE b\xC3"), (Words{"a", "\xFF\xFE", " b", "\xC3"}));
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_bytes(random, 50);
    std::string joined;
    for (const std::string& word : words_of(text)) joined += word;
    EXPECT_EQ(joined, text);
  }
}

// ICU's regular expressions know nothing of our scanner.
TEST(Gpt2Words, AgreesWithTheRegularExpression) {
  UErrorCode status = U_ZERO_ERROR;
  // \s of ICU leaves out what the property has.
  icu::RegexMatcher matcher(
      icu::UnicodeString::fromUTF8(
          R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)"),
      0, status);
  ASSERT_TRUE(U_SUCCESS(status));
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_text(random, 1 + random() % 40);
    const icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
    matcher.reset(wide);
    Words expected;
    while (matcher.find(status)) matcher.group(status).toUTF8String(expected.emplace_back());
    ASSERT_EQ(words_of(text), expected) << text;
  }
}

}  // namespace
}  // namespace undertext
