#include "text/word_piece_tokenizer.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "random_text.h"
#include "temporary_folder.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

std::shared_ptr<const WordPieceTokenizer> tiny() {
  return WordPieceTokenizer::parse(kPieces, {}, "vocab.txt");
}

TEST(WordPieces, TakesTheLongestPieceThatFits) {
  const auto tokenizer = tiny();
  EXPECT_EQ(tokenizer->encode("unaffable running"), (Sentence{5, 6, 7, 8, 9}));
  EXPECT_EQ(tokenizer->encode("runn run"), (Sentence{8, 15, 8}));
  EXPECT_EQ(tokenizer->encode("ru"), (Sentence{16, 17}));
  EXPECT_EQ(tokenizer->encode("unknown un"), (Sentence{1, 5}));
  EXPECT_EQ(tokenizer->encode(""), Sentence{});
}

TEST(WordPieces, NormalisesAsBertDoes) {
  const auto tokenizer = tiny();
  EXPECT_EQ(tokenizer->encode("CAF\u00C9 cafe\u0301"), (Sentence{13, 13}));
  EXPECT_EQ(tokenizer->encode("run\u4E16run"), (Sentence{8, 14, 8}));
  EXPECT_EQ(tokenizer->encode("run,'run.\tun\u3000un"), (Sentence{8, 10, 12, 8, 11, 5, 5}));
  // Control characters vanish, a form feed among them; so do U+FFFD and bytes that are not UTF-8.
  EXPECT_EQ(tokenizer->encode("r\x01u\fn\u200D\uFFFD\xFF un"), (Sentence{8, 5}));
  EXPECT_EQ(tokenizer->encode("\xFF \u0301"), Sentence{});
}

TEST(WordPieces, FindsSpecialTokensInTexts) {
  EXPECT_EQ(tiny()->encode("run[MASK]run [mask]"), (Sentence{8, 4, 8, 1, 1, 1}));
  EXPECT_EQ(tiny()->special().start, 2);
  EXPECT_EQ(tiny()->special().unknown, 1);
}

TEST(WordPieces, LongWordsAreUnknown) {
  std::string word = "r";
  for (int i = 0; i < 99; ++i) word += "n";
  EXPECT_EQ(tiny()->encode(word).size(), 100u);
  EXPECT_EQ(tiny()->encode(word + "n"), Sentence{1});
}

TEST(WordPieces, HonoursTheRules) {
  const auto encode = [](BertRules rules, std::string_view text) {
    return WordPieceTokenizer::parse(kPieces, rules, "vocab.txt")->encode(text);
  };
  EXPECT_EQ(encode({.lowercase = false}, "RUN run"), (Sentence{1, 8}));
  EXPECT_EQ(encode({.strip_accents = false}, "caf\u00E9 RUN"), (Sentence{1, 8}));
  EXPECT_EQ(encode({.handle_chinese_chars = false}, "run\u4E16 run"), (Sentence{1, 8}));
  EXPECT_EQ(encode({.clean_text = false}, "r\x01un un\fun"), (Sentence{1, 5, 5}));
}

TEST(WordPieces, DecodesReadably) {
  const auto tokenizer = tiny();
  EXPECT_EQ(tokenizer->decode(Sentence{5, 6, 7, 10, 8, 9, 11}), "unaffable, running.");
  EXPECT_EQ(tokenizer->decode(Sentence{8, 12, 5, 18, 8, 19, 1}), "run'un (run) [UNK]");
  EXPECT_EQ(tokenizer->decode(Sentence{9}), "ning");
}

TEST(WordPieces, TakeAnyBytes) {
  const auto tokenizer = tiny();
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    for (const std::string& text : {random_text(random, 40), random_bytes(random, 60)}) {
      const Sentence first = tokenizer->encode(text);
      ASSERT_EQ(tokenizer->encode(text), first);  // now from the cache
      ASSERT_FALSE(find_invalid_utf8(tokenizer->decode(first)));
    }
  }
}

class WordPieceFiles : public TemporaryFolder {};

TEST_F(WordPieceFiles, ReadTheConfigurationBesideTheVocabulary) {
  write("vocab.txt", kPieces);
  EXPECT_EQ(load_tokenizer(folder_)->encode("RUN"), Sentence{8});
  write("tokenizer_config.json", R"({"do_lower_case": false, "model_max_length": 512})");
  EXPECT_EQ(load_tokenizer(folder_)->encode("RUN caf\u00E9"), (Sentence{1, 1}));
  write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_EQ(load_tokenizer(folder_)->encode("RUN caf\u00E9"), (Sentence{1, 13}));
  write("tokenizer_config.json", R"({"do_lower_case": "no"})");
  EXPECT_NE(user_error([&] { load_tokenizer(folder_); }).find("tokenizer_config.json: \"do_lower_case\""),
            std::string::npos);
}

TEST_F(WordPieceFiles, ComeBackAsTheyWereSaved) {
  const auto saved = WordPieceTokenizer::parse(kPieces, {.lowercase = false}, "vocab.txt");
  saved->save(folder_);
  const auto loaded = load_tokenizer(folder_);
  EXPECT_EQ(all_tokens(*loaded), all_tokens(*saved));
  EXPECT_EQ(loaded->encode("RUN caf\u00E9 [CLS]"), (Sentence{1, 13, 2}));
  EXPECT_EQ(loaded->special().unknown, 1);
}

TEST(WordPieceJson, HonoursItsFields) {
  nlohmann::json file = tiny_word_piece_json();
  EXPECT_EQ(parse_tokenizer_json(file.dump(), "t")->encode("\u00C1b"), (Sentence{2, 3}));
  file["normalizer"]["lowercase"] = false;  // and so the accents stay, too
  EXPECT_EQ(parse_tokenizer_json(file.dump(), "t")->encode("\u00E1b ab Ab"), (Sentence{1, 2, 3, 1}));
  file["normalizer"] = nullptr;
  EXPECT_EQ(parse_tokenizer_json(file.dump(), "t")->encode("A ab"), (Sentence{1, 2, 3}));
  file["model"]["max_input_chars_per_word"] = 1;
  EXPECT_EQ(parse_tokenizer_json(file.dump(), "t")->encode("ab a"), (Sentence{1, 2}));
}

}  // namespace
}  // namespace undertext
