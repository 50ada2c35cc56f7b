#include "text/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "text/vocabulary.h"

namespace undertext {
namespace {

// 40,000 messages of one seed, drawn once for all tests.
const std::vector<Message>& sample() {
  static const std::vector<Message> messages = [] {
    std::vector<Message> list;
    for (std::int64_t i = 0; i < 40'000; ++i) list.push_back(generate_message(Seed(5), i));
    return list;
  }();
  return messages;
}

TEST(Messages, AreManyAndRichInWords) {
  std::set<std::string> texts, words;
  for (const Message& message : sample()) {
    texts.insert(message.text);
    for (const std::string& word : keyboard_words(message.text)) words.insert(word);
  }
  EXPECT_GE(texts.size(), 20'000u);
  EXPECT_GT(words.size(), 1'500u);
}

TEST(Messages, HaveOneToTwelveWords) {
  std::map<std::size_t, int> lengths;
  double sum = 0;
  for (const Message& message : sample()) {
    const std::size_t length = keyboard_words(message.text).size();
    ASSERT_GE(length, 1u) << message.text;
    ASSERT_LE(length, 12u) << message.text;
    ++lengths[length];
    sum += static_cast<double>(length);
  }
  EXPECT_EQ(lengths.size(), 12u);
  const double mean = sum / static_cast<double>(sample().size());
  EXPECT_GT(mean, 5);
  EXPECT_LT(mean, 6);
}

TEST(Messages, LookTypedOnAPhone) {
  for (const Message& message : sample()) {
    for (const char c : message.text) {
      const bool expected =
          (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '\'' || c == '?';
      ASSERT_TRUE(expected) << message.text;
    }
    ASSERT_EQ(message.text.find("  "), std::string::npos) << message.text;
  }
}

TEST(Messages, AFewArePrivate) {
  const auto count = std::count_if(sample().begin(), sample().end(),
                                   [](const Message& message) { return message.topic == "private"; });
  const double share = static_cast<double>(count) / static_cast<double>(sample().size());
  EXPECT_GT(share, 0.02);
  EXPECT_LT(share, 0.03);
}

TEST(Messages, ShortRepliesRepeat) {
  std::map<std::string, int> counts;
  for (const Message& message : sample()) ++counts[message.text];
  EXPECT_GT(counts["ok"], 200);
  EXPECT_GT(counts["yes"], 100);
  EXPECT_GT(counts["on my way"], 50);
}

TEST(Messages, DependOnSeedAndIndexAlone) {
  const std::vector<std::string> ten = generate_messages(Seed(5), 10),
                                 hundred = generate_messages(Seed(5), 100);
  for (std::size_t i = 0; i < ten.size(); ++i) {
    EXPECT_EQ(ten[i], hundred[i]);
    EXPECT_EQ(ten[i], sample()[i].text);
  }
  EXPECT_EQ(generate_message(Seed(5), 31'234).text, sample()[31'234].text);
  EXPECT_TRUE(generate_messages(Seed(5), 0).empty());

  const std::vector<std::string> other = generate_messages(Seed(6), 100);
  int same = 0;
  for (std::size_t i = 0; i < other.size(); ++i) same += other[i] == hundred[i];
  EXPECT_LT(same, 10);
}

TEST(Messages, UseEveryRule) {
  std::set<std::string> topics = {"topic"};
  for (const Message& message : sample()) topics.insert(message.topic);
  EXPECT_EQ(message_grammar().unreachable_from({topics.begin(), topics.end()}), std::vector<std::string>{});
}

// A language model can learn them: already the word before cuts the perplexity to less than a third, on
// held-out messages with an interpolated bigram.
TEST(Messages, ArePredictable) {
  std::map<std::string, double> unigrams, contexts;
  std::map<std::pair<std::string, std::string>, double> bigrams;
  double total = 0, unigram_loss = 0, bigram_loss = 0, tokens = 0;
  for (std::size_t i = 0; i < sample().size(); ++i) {
    std::string before = "<S>";
    for (const std::string& word : keyboard_words(sample()[i].text)) {
      if (i < 30'000) {
        ++unigrams[word];
        ++contexts[before];
        ++bigrams[{before, word}];
        ++total;
      } else {
        const double unigram = (unigrams[word] + 0.5) / (total + 1500);
        const double seen = contexts[before] > 0 ? bigrams[{before, word}] / contexts[before] : 0;
        unigram_loss -= std::log(unigram);
        bigram_loss -= std::log(0.9 * seen + 0.1 * unigram);
        ++tokens;
      }
      before = word;
    }
  }
  EXPECT_LT(std::exp(bigram_loss / tokens), 0.3 * std::exp(unigram_loss / tokens));
}

// The built-in vocabulary covers what it was built from.
TEST(Messages, FitTheVocabularyBuiltFromThem) {
  const std::vector<std::string> texts = generate_messages(Seed(1), 20'000);
  const Vocabulary vocabulary = build_vocabulary(texts, 10'000);
  for (const std::string& text : texts) {
    for (const Token id : vocabulary.encode(text)) ASSERT_NE(id, vocabulary.unknown()) << text;
  }
}

}  // namespace
}  // namespace undertext
