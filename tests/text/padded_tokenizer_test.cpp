#include "text/padded_tokenizer.h"

#include <gtest/gtest.h>

#include "tiny_tokenizers.h"

namespace undertext {
namespace {

TEST(PaddedTokenizer, ShowsRowsWithoutAToken) {
  const PaddedTokenizer padded(tiny_byte_pairs(kHello), 300);
  EXPECT_EQ(padded.size(), 300);
  EXPECT_EQ(padded.encode("hello world"), (Sentence{259, 263, 262}));
  EXPECT_EQ(padded.token(259), "hello");
  EXPECT_EQ(padded.token(299), "<unused 299>");
  EXPECT_EQ(padded.decode(Sentence{259, 263, 262}), "hello world");
  EXPECT_EQ(padded.decode(Sentence{265, 259, 299, 270, 262}), "\uFFFDhello\uFFFD\uFFFDld");
  EXPECT_EQ(padded.decode(Sentence{}), "");
  EXPECT_EQ(padded.special().end, 264);
}

}  // namespace
}  // namespace undertext
