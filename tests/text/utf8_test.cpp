#include "text/utf8.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Utf8, RoundTripsTheBordersOfEveryLength) {
  for (const char32_t c :
       {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text;
    append_utf8(text, c);
    const auto back = decode_utf8(text, 0);
    ASSERT_TRUE(back) << std::hex << static_cast<unsigned>(c);
    EXPECT_EQ(back->value, c);
    EXPECT_EQ(back->bytes, text.size());
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_FALSE(find_invalid_utf8(""));
  EXPECT_FALSE(find_invalid_utf8("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"));
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2u);
  EXPECT_EQ(find_invalid_utf8("a\x80"), 1u);             // continuation without a lead
  EXPECT_EQ(find_invalid_utf8("caf\xE9"), 3u);           // Latin-1
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);          // overlong, two bytes
  EXPECT_EQ(find_invalid_utf8("\xE0\x80\xAF"), 0u);      // overlong, three bytes
  EXPECT_EQ(find_invalid_utf8("\xF0\x80\x80\xAF"), 0u);  // overlong, four bytes
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1u);     // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("ok \xE2\x82"), 3u);       // cut short
  EXPECT_EQ(find_invalid_utf8("ok \xE2\x28\xA1"), 3u);   // bad second byte
}

TEST(Utf8, LowersLatinLettersOnly) {
  EXPECT_EQ(lower_latin(U'A'), U'a');
  EXPECT_EQ(lower_latin(U'Z'), U'z');
  EXPECT_EQ(lower_latin(U'['), U'[');
  EXPECT_EQ(lower_latin(U'\u00C9'), U'\u00E9');
  EXPECT_EQ(lower_latin(U'\u00D7'), U'\u00D7');  // multiplication sign
  EXPECT_EQ(lower_latin(U'\u00DF'), U'\u00DF');
  EXPECT_EQ(lower_latin(U'\u0141'), U'\u0142');  // L with stroke
  EXPECT_EQ(lower_latin(U'\u0142'), U'\u0142');
  EXPECT_EQ(lower_latin(U'\u0160'), U'\u0161');  // S with caron
  EXPECT_EQ(lower_latin(U'\u017D'), U'\u017E');  // Z with caron
  EXPECT_EQ(lower_latin(U'\u017E'), U'\u017E');
  EXPECT_EQ(lower_latin(U'\u0130'), U'i');
  EXPECT_EQ(lower_latin(U'\u0178'), U'\u00FF');
  EXPECT_EQ(lower_latin(U'\u1EBE'), U'\u1EBF');
  EXPECT_EQ(lower_latin(U'\u4E2D'), U'\u4E2D');
}

// Lower case is a fixed point: lowering twice changes nothing.
TEST(Utf8, LoweringIsIdempotent) {
  for (char32_t c = 0; c < 0x2000; ++c) EXPECT_EQ(lower_latin(lower_latin(c)), lower_latin(c));
}

// As Python decodes with errors="replace".
TEST(Utf8, ReplacesWhatIsBroken) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain \u4E16", "plain \u4E16"},
      {"\xFF\xFE", "\uFFFD\uFFFD"},
      {"\xE4\xBD", "\uFFFD"},
      {"\xE4\xBDx", "\uFFFDx"},
      {"\xF0\x9F\x98", "\uFFFD"},
      {"\xC3", "\uFFFD"},
      {"\x80\x80", "\uFFFD\uFFFD"},
      {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD"},  // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},  // a surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xF0\x9F\xE4\xB8\x96", "\uFFFD\u4E16"},
  };
  for (const auto& [broken, whole] : cases) EXPECT_EQ(replace_invalid_utf8(broken), whole);
}

}  // namespace
}  // namespace undertext
