#include "text/text_filter.h"

#include <gtest/gtest.h>

#include "text/vocabulary.h"

namespace undertext {
namespace {

using Texts = std::vector<std::string>;

TEST(TextFilter, ByWords) {
  const Texts texts = {"one", "one two", "one two three"};
  EXPECT_EQ(filtered(texts, {}), texts);
  EXPECT_EQ(filtered(texts, {.min_words = 2}), (Texts{"one two", "one two three"}));
  EXPECT_EQ(filtered(texts, {.max_words = 2}), (Texts{"one", "one two"}));
  EXPECT_EQ(filtered(texts, {.min_words = 2, .max_words = 2}), (Texts{"one two"}));
}

TEST(TextFilter, ByUnknownWords) {
  const Texts texts = {"a mill of <unk> <unk>", "a mill of <unk>", "a mill"};
  EXPECT_EQ(filtered(texts, {.max_unknown = 1}), (Texts{"a mill of <unk>", "a mill"}));
  EXPECT_EQ(filtered(texts, {.max_unknown = 0}), (Texts{"a mill"}));
  const Vocabulary vocabulary = build_vocabulary(Texts{"a mill"}, 100);
  const TextFilter one{.max_unknown = 1};
  EXPECT_TRUE(one.keeps(vocabulary.encode("a red mill"), vocabulary));
  EXPECT_FALSE(one.keeps(vocabulary.encode("a red brick mill"), vocabulary));
}

TEST(TextFilter, SplitsParagraphs) {
  EXPECT_EQ(split_sentences("It rained . He left \" at once ! \" Mr. Fox paid $ 3.5 to J. Doe . and stayed"),
            (Texts{"It rained .", "He left \" at once !", "\" Mr. Fox paid $ 3.5 to J. Doe . and stayed"}));
  EXPECT_EQ(split_sentences("Really? Yes. No (twice.) Fine"),
            (Texts{"Really?", "Yes.", "No (twice.)", "Fine"}));
  EXPECT_EQ(split_sentences("  "), Texts{});
  EXPECT_EQ(filtered({" = Heading = ", "One . Two three ."}, {.min_words = 3, .split = true}),
            (Texts{"Two three ."}));
}

TEST(TextFilter, ByTokens) {
  const Vocabulary vocabulary = build_vocabulary(Texts{"a b c"}, 100);
  const TextFilter two{.max_tokens = 2};
  EXPECT_TRUE(two.keeps(vocabulary.encode("a b"), vocabulary));
  EXPECT_FALSE(two.keeps(vocabulary.encode("a b c"), vocabulary));
}

TEST(TextFilter, ByEntitiesThatNameSomething) {
  const Texts texts = {"see you on friday at 7", "see robert on friday", "robert is in houston"};
  EXPECT_EQ(filtered(texts, {.min_entities = 1}), (Texts{"see robert on friday", "robert is in houston"}));
  EXPECT_EQ(filtered(texts, {.min_entities = 2}), (Texts{"robert is in houston"}));
}

}  // namespace
}  // namespace undertext
