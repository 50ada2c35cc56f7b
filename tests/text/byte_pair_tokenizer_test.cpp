#include "text/byte_pair_tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "random_text.h"
#include "temporary_folder.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

TEST(BytePairs, MergesTheEarliestPairFirst) {
  const auto tokenizer = tiny_byte_pairs(kHello);
  EXPECT_EQ(tokenizer->size(), 265);
  EXPECT_EQ(tokenizer->encode("hello world"), (Sentence{259, 263, 262}));
  EXPECT_EQ(tokenizer->encode("hell held"), (Sentence{258, ' ', 256, 262}));
  // "lll": of equal pairs the leftmost.
  EXPECT_EQ(tokenizer->encode("lll"), (Sentence{257, 'l'}));
  EXPECT_EQ(tokenizer->encode(""), Sentence{});
  EXPECT_EQ(tokenizer->token(263), "\u0120wor");
  EXPECT_EQ(tokenizer->decode(Sentence{259, 263, 262}), "hello world");
}

TEST(BytePairs, NeverMergesAcrossWords) {
  EXPECT_EQ(tiny_byte_pairs({{"a", "\u0120"}, {"a", "1"}})->encode("a 1a1"),
            (Sentence{'a', ' ', '1', 'a', '1'}));
}

TEST(BytePairs, FindsAddedTokensInTexts) {
  const auto tokenizer = tiny_byte_pairs(kHello);
  EXPECT_EQ(tokenizer->encode("hello<|endoftext|> world"), (Sentence{259, 264, 263, 262}));
  EXPECT_EQ(tokenizer->encode("<|endoftext|><|endoftext|"),
            (Sentence{264, '<', '|', 'e', 'n', 'd', 'o', 'f', 't', 'e', 'x', 't', '|'}));
  EXPECT_EQ(tokenizer->decode(Sentence{259, 264}), "hello<|endoftext|>");
  EXPECT_EQ(tokenizer->special().end, 264);
  EXPECT_EQ(tokenizer->special().mask, std::nullopt);
}

TEST(BytePairs, AddedTokensMayTakeTheSpaceBesideThem) {
  nlohmann::json file = tiny_tokenizer_json();
  file["added_tokens"].push_back({{"id", 265}, {"content", "<mask>"}, {"lstrip", true}, {"rstrip", true}});
  file["added_tokens"].push_back({{"id", 266}, {"content", "<mask>>"}, {"special", false}});
  const auto tokenizer = parse_tokenizer_json(file.dump(), "tokenizer.json");
  EXPECT_EQ(tokenizer->encode("hello \u3000<mask>\n w <mask>> "), (Sentence{259, 265, 'w', ' ', 266, ' '}));
  EXPECT_EQ(tokenizer->special().mask, 265);
}

TEST(BytePairs, DecodesBrokenCharactersToReplacements) {
  const auto tokenizer = tiny_byte_pairs({});
  EXPECT_EQ(tokenizer->decode(Sentence{'a', 0xE4, 0xBD, 'b', 0xFF}), "a\uFFFDb\uFFFD");
  EXPECT_EQ(tokenizer->encode("\xE4\xBD"), (Sentence{0xE4, 0xBD}));
}

// The plain way: look for the best pair, join it, start again.
Sentence merged_plainly(const Merges& merges, const nlohmann::json& ids, const std::string& word) {
  std::vector<std::string> pieces;
  for (const char c : word) pieces.push_back(byte_alphabet()[static_cast<unsigned char>(c)]);
  for (bool found = true; found;) {
    found = false;
    for (const auto& [left, right] : merges) {
      for (std::size_t i = 0; i + 1 < pieces.size() && !found; ++i) {
        if (pieces[i] != left || pieces[i + 1] != right) continue;
        pieces[i] += right;
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        found = true;
      }
      if (found) break;
    }
  }
  Sentence tokens;
  for (const std::string& piece : pieces) tokens.push_back(ids.at(piece));
  return tokens;
}

// Merges in an order that no training gives, so that every rule about order shows; words short, long and
// cached.
TEST(BytePairs, AgreesWithThePlainWay) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    Merges merges;
    std::vector<std::string> pieces = {"a", "b", "c"};
    for (int i = 0; i < 12; ++i) {
      const std::pair<std::string, std::string> merge{pieces[random() % pieces.size()],
                                                      pieces[random() % pieces.size()]};
      if (std::find(merges.begin(), merges.end(), merge) != merges.end()) continue;
      merges.push_back(merge);
      pieces.push_back(merge.first + merge.second);
    }
    std::shuffle(merges.begin(), merges.end(), random);
    const auto tokenizer = tiny_byte_pairs(merges);
    const nlohmann::json ids = tiny_vocabulary(merges);
    for (int i = 0; i < 40; ++i) {
      std::string word;
      for (std::size_t n = 1 + random() % (i % 2 ? 10 : 150); n > 0; --n)
        word += static_cast<char>('a' + random() % 3);
      ASSERT_EQ(tokenizer->encode(word), merged_plainly(merges, ids, word)) << word;
    }
  }
}

TEST(BytePairs, GiveEveryTextBack) {
  const auto tokenizer = tiny_byte_pairs(kHello);
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, random() % 60);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(BytePairs, EndlessWordsTakeNoEndlessTime) {
  const auto tokenizer = tiny_byte_pairs({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}});
  EXPECT_EQ(tokenizer->encode(std::string(1'000'000, 'a')), Sentence(125'000, 258));
}

TEST(BytePairs, AreTheSameForManyThreads) {
  const auto tokenizer = tiny_byte_pairs(kHello);
  const Sentence expected = tokenizer->encode("hello world, hell");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) wrong += tokenizer->encode("hello world, hell") != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

class BytePairFiles : public TemporaryFolder {};

TEST_F(BytePairFiles, BothFormsAreTheSame) {
  nlohmann::json file = tiny_tokenizer_json();
  const auto strings = parse_tokenizer_json(file.dump(), "tokenizer.json");
  file["model"]["merges"] = kHello;  // ["a", "b"] each
  const auto pairs = parse_tokenizer_json(file.dump(), "tokenizer.json");
  const auto files = tiny_byte_pairs(kHello);
  for (const auto& tokenizer : {strings, pairs}) {
    EXPECT_EQ(all_tokens(*tokenizer), all_tokens(*files));
    EXPECT_EQ(tokenizer->encode("hello world<|endoftext|>"), files->encode("hello world<|endoftext|>"));
  }
}

TEST_F(BytePairFiles, ComeBackAsTheyWereSaved) {
  nlohmann::json file = tiny_tokenizer_json();
  file["added_tokens"].push_back({{"id", 265}, {"content", "<a b>"}, {"lstrip", true}, {"special", false}});
  const auto saved = parse_tokenizer_json(file.dump(), "tokenizer.json");
  saved->save(folder_);
  const auto loaded = load_tokenizer(folder_);
  EXPECT_EQ(all_tokens(*loaded), all_tokens(*saved));
  EXPECT_EQ(loaded->encode("hello  <a b> world"), (Sentence{259, 265, 263, 262}));
  const std::string first = read_file(folder_ / "tokenizer.json");
  loaded->save(folder_);
  EXPECT_EQ(read_file(folder_ / "tokenizer.json"), first);
}

TEST_F(BytePairFiles, TheOlderPairIsFound) {
  write("vocab.json", tiny_vocabulary(kHello).dump());
  write("merges.txt", merges_file(kHello));
  EXPECT_EQ(load_tokenizer(folder_)->encode("hello"), Sentence{259});
}

}  // namespace
}  // namespace undertext
