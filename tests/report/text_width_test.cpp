#include "report/text_width.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(text_width(""), 0);
  EXPECT_EQ(text_width("abc"), 3);
  EXPECT_EQ(text_width("é σ →"), 5);
  EXPECT_EQ(text_width("e\u0301"), 1);  // a letter and a combining accent
  EXPECT_EQ(text_width("漢字"), 4);
  EXPECT_EQ(text_width("✓"), 1);
  EXPECT_EQ(text_width("😀"), 2);
  EXPECT_EQ(text_width("\xff"), 1);  // not UTF-8
}

TEST(Printable, LeavesNothingThatMovesATerminal) {
  EXPECT_EQ(printable("see you at 6 é 漢"), "see you at 6 é 漢");
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable(std::string("\0\n\r\x7f", 4)), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\u0085\u202E\u2028\u2066"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("a\xc3"), "a\uFFFD");
}

TEST(WrapText, BreaksAtSpacesAndInsideLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap_text("", 5), Lines{""});
  EXPECT_EQ(wrap_text("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap_text("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(wrap_text("a bcdefgh", 3), (Lines{"a", "bcd", "efg", "h"}));
  EXPECT_EQ(wrap_text("漢字漢字", 5), (Lines{"漢字", "漢字"}));
}

}  // namespace
}  // namespace undertext
