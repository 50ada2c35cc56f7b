#include "base/error.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Error, FailFormatsOneMessage) {
  try {
    fail("{}: expected {}, found {}", "a.txt", 2, 3);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "a.txt: expected 2, found 3");
  }
}

TEST(ErrorDeathTest, ABugAbortsLoudlyAndSaysWhere) {
  EXPECT_DEATH(UNDERTEXT_CHECK(1 + 1 == 3), "bug: 1 \\+ 1 == 3 does not hold .*error_test.cpp");
  UNDERTEXT_CHECK(1 + 1 == 2);
}

TEST(Error, NamesFromOutsideStayOnOneLine) {
  EXPECT_EQ(quote("plain"), "\"plain\"");
  EXPECT_EQ(quote("a\nb\x1b[2J"), "\"a\\x0ab\\x1b[2J\"");
  EXPECT_EQ(quote("grün"), "\"grün\"");
  EXPECT_EQ(quote(std::string(200, 'x')), '"' + std::string(80, 'x') + "...\"");
  // Two bytes each: the cut falls between characters.
  std::string umlauts = "x";
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  EXPECT_EQ(quote(umlauts).size(), 1 + 81 + 3 + 1);
}

}  // namespace
}  // namespace undertext
