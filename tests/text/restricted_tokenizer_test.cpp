#include "text/restricted_tokenizer.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "random_text.h"
#include "temporary_folder.h"
#include "text/character_tokenizer.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  Pieces pieces;
  for (const Token id : tokenizer.encode(text)) pieces.push_back(tokenizer.token(id));
  return pieces;
}

class Restricted : public TemporaryFolder {};

TEST_F(Restricted, BytePairsSplitWhatIsNotKept) {
  const auto full = tiny_byte_pairs(kHello);
  const std::vector<std::string> texts = {"hell", "ld wor"};  // hell, ld, \u0120wor
  const RestrictedTokenizer small = restrict_to(*full, texts);
  EXPECT_EQ(small.tokenizer->size(), 256 + 4);
  EXPECT_EQ(small.kept[256], 258);
  EXPECT_EQ(small.kept[259], 264);
  EXPECT_EQ(pieces_of(*small.tokenizer, "hello world"), (Pieces{"hell", "o", "\u0120wor", "ld"}));
  EXPECT_EQ(pieces_of(*small.tokenizer, "help or"), (Pieces{"h", "e", "l", "p", "\u0120", "o", "r"}));
  EXPECT_EQ(pieces_of(*small.tokenizer, "<|endoftext|>"), Pieces{"<|endoftext|>"});
  EXPECT_EQ(small.tokenizer->special().end, 259);

  small.tokenizer->save(folder_);
  const auto loaded = load_tokenizer(folder_);
  EXPECT_EQ(all_tokens(*loaded), all_tokens(*small.tokenizer));
  EXPECT_EQ(loaded->encode("hello world help"), small.tokenizer->encode("hello world help"));
  // What is restricted can be restricted again.
  const RestrictedTokenizer bytes = restrict_to(*loaded, {});
  EXPECT_EQ(bytes.tokenizer->size(), 257);
  EXPECT_EQ(pieces_of(*bytes.tokenizer, "hell"), (Pieces{"h", "e", "l", "l"}));
}

TEST_F(Restricted, WordPiecesKeepTheirCharacters) {
  const auto full = WordPieceTokenizer::parse(kPieces, {}, "vocab.txt");
  const std::vector<std::string> texts = {"running"};
  const RestrictedTokenizer small = restrict_to(*full, texts);
  // The five special ones, run, ##ning, and of single characters those of "running" that there are.
  EXPECT_EQ(small.kept, (std::vector<Token>{0, 1, 2, 3, 4, 8, 9, 15, 16, 17}));
  EXPECT_EQ(pieces_of(*small.tokenizer, "running runn unaffable"),
            (Pieces{"run", "##ning", "run", "##n", "[UNK]"}));
}

TEST_F(Restricted, OthersAreRefused) {
  EXPECT_NE(user_error([] { restrict_to(build_characters({}), {}); }).find("cannot be restricted"),
            std::string::npos);
}

TEST_F(Restricted, CutsPublicTextsAsBefore) {
  const std::filesystem::path shared = UNDERTEXT_SHARED;
  if (!std::filesystem::exists(shared / "data/tokenizers")) GTEST_SKIP() << shared << " is not there";
  const std::vector<std::string> texts = {read_file(shared / "data/enron/sentences.txt").substr(0, 200'000)};
  for (const char* name : {"gpt2", "bert-base-uncased"}) {
    const auto full = load_tokenizer(shared / "data/tokenizers" / name);
    const RestrictedTokenizer small = restrict_to(*full, texts);
    small.tokenizer->save(folder_);
    const auto loaded = load_tokenizer(folder_);
    EXPECT_LT(loaded->size(), full->size() / 3) << name;
    EXPECT_TRUE(pieces_of(*loaded, texts[0]) == pieces_of(*full, texts[0])) << name;
  }
}

// Pieces of the small tokenizer are those of the full one, some of them cut further.
TEST_F(Restricted, NeverJoinsWhatTheFullOneCuts) {
  const std::filesystem::path gpt2 = std::filesystem::path(UNDERTEXT_SHARED) / "data/tokenizers/gpt2";
  if (!std::filesystem::exists(gpt2)) GTEST_SKIP() << gpt2 << " is not there";
  const auto full = load_tokenizer(gpt2);
  const std::vector<std::string> texts = {"the quick brown fox jumps over a lazy dog and its friends"};
  const auto small = restrict_to(*full, texts).tokenizer;
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string text = i == 0 ? "antidisestablishmentarianism of the foxes" : random_text(random, 30);
    const auto ends = [&](const Tokenizer& tokenizer) {
      std::vector<std::size_t> places;
      std::size_t at = 0;
      for (const std::string& piece : pieces_of(tokenizer, text))
        places.push_back(at += bytes_of_written(piece)->size());
      return places;
    };
    const auto coarse = ends(*full), fine = ends(*small);
    ASSERT_TRUE(std::includes(fine.begin(), fine.end(), coarse.begin(), coarse.end())) << text;
    ASSERT_EQ(small->decode(small->encode(text)), text);
  }
}

}  // namespace
}  // namespace undertext
