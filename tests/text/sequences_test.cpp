#include "text/sequences.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace undertext {
namespace {

using Sequences = std::vector<Sentence>;

const Sequences kTexts = {{1, 2, 3}, {4}, {}, {5, 6, 7, 8}};

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Sequences, AreOneStreamCutIntoPiecesOfOneLength) {
  EXPECT_EQ(cut_into_sequences(kTexts, 3, "texts"), (Sequences{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(cut_into_sequences(kTexts, 4, "texts"), (Sequences{{1, 2, 3, 4}, {5, 6, 7, 8}}));
  EXPECT_EQ(cut_into_sequences(kTexts, 8, "texts"), (Sequences{{1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_EQ(cut_into_sequences(kTexts, 1, "texts").size(), 8u);
}

TEST(Sequences, CanBeTheFirstFewOnly) {
  EXPECT_EQ(first_sequences(kTexts, 2, 3, "texts"), (Sequences{{1, 2}, {3, 4}, {5, 6}}));
}

TEST(Sequences, ThatAreNotThereAreNamed) {
  EXPECT_EQ(message_of([] { cut_into_sequences(kTexts, 9, "a.txt"); }),
            "a.txt: 8 tokens, expected at least one sequence of 9");
  EXPECT_EQ(message_of([] { first_sequences(kTexts, 3, 3, "a.txt"); }),
            "a.txt: 2 sequences of 3 tokens, expected 3");
  EXPECT_EQ(message_of([] { cut_into_sequences({}, 1, "a.txt"); }),
            "a.txt: 0 tokens, expected at least one sequence of 1");
  EXPECT_EQ(message_of([] { cut_into_sequences(kTexts, 0, "a.txt"); }),
            "a.txt: sequences of 0 tokens, expected at least 1");
  EXPECT_EQ(message_of([] { first_sequences(kTexts, 3, 0, "a.txt"); }),
            "a.txt: 0 sequences, expected at least 1");
}

}  // namespace
}  // namespace undertext
