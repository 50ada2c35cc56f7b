#include "text/spelling.h"

#include <gtest/gtest.h>

#include "text/vocabulary.h"

namespace undertext {
namespace {

TEST(Spelling, MakesEveryLetterAWord) {
  EXPECT_EQ(spelled("Ok, sir"), "o k ␣ s i r");
  EXPECT_EQ(spelled("über"), "ü b e r");
  EXPECT_EQ(spelled(""), "");
  EXPECT_EQ(spelled("..."), "");
}

// Through a vocabulary of letters and back: what a keyboard would show.
TEST(Spelling, ComesBack) {
  const std::string letters = spelled("I am at home, sir. See you 5pm");
  const Vocabulary vocabulary = build_vocabulary(std::vector<std::string>{letters}, 100);
  EXPECT_EQ(unspelled(vocabulary.decode(vocabulary.encode(letters))), "I am at home sir see you 5pm");
}

}  // namespace
}  // namespace undertext
