#include "attacks/records/exact_top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attacks/records/pattern_reader.h"
#include "small_reader.h"

namespace undertext {
namespace {

struct Tried {
  std::string text;
  double log_probability;
};

// All texts of a pattern, the likeliest first, read one by one in whole.
std::vector<Tried> try_all(const LanguageModel& model, const RecordPattern& pattern) {
  const CharacterTokenizer characters = small_characters();
  const std::vector<std::string> texts = pattern.all();
  std::vector<Sentence> sentences;
  for (const std::string& text : texts) sentences.push_back(characters.encode(text));
  const std::vector<double> nll = model.negative_log_likelihood(sentences);
  std::vector<Tried> tried;
  for (std::size_t i = 0; i < texts.size(); ++i) tried.push_back({texts[i], -nll[i]});
  std::ranges::sort(tried, std::ranges::greater(), &Tried::log_probability);
  return tried;
}

ExactTop search(const std::shared_ptr<CifgLstm>& model, const TokenPattern& pattern,
                const ExactTopOptions& options = {}) {
  PatternReader reader(model, pattern, {});
  return exact_top(reader, pattern, options);
}

void expect_the_best(const ExactTop& top, const TokenPattern& pattern, const std::vector<Tried>& tried) {
  for (std::size_t i = 0; i < top.records.size(); ++i) {
    EXPECT_NEAR(top.records[i].log_probability, tried[i].log_probability, 1e-4) << i;
    // Neighbours nearer than rounding may change places.
    const bool alone =
        (i == 0 || tried[i - 1].log_probability > tried[i].log_probability + 1e-4) &&
        (i + 1 == tried.size() || tried[i + 1].log_probability < tried[i].log_probability - 1e-4);
    if (alone) {
      EXPECT_EQ(pattern.text(top.records[i].tokens), tried[i].text) << i;
    }
  }
}

TEST(ExactTop, FindsWhatTryingAllSixDigitsFinds) {
  const RecordPattern pattern = RecordPattern::parse("my number is {ddd}-{ddd}");
  const auto model = small_reader(3);
  const TokenPattern tokens(pattern, small_characters());
  const std::vector<Tried> tried = try_all(*model, pattern);
  ASSERT_EQ(tried.size(), 1'000'000u);
  for (const std::int64_t batch : {7, 1000}) {  // a narrow beam has to come back to what it left over
    ExactTopOptions options;
    options.top = 200;
    options.batch = batch;
    const ExactTop top = search(model, tokens, options);
    ASSERT_EQ(top.records.size(), 200u);
    EXPECT_EQ(top.proven, 200);
    EXPECT_EQ(top.bound, top.records.back().log_probability);
    EXPECT_LT(top.read, 111'111);  // all beginnings of the six digits
    expect_the_best(top, tokens, tried);
  }
}

TEST(ExactTop, ListsAllWhereThereAreFew) {
  const RecordPattern pattern = RecordPattern::parse("{a|ab|abc|x}{c|bc|dd} {re|red|green}");
  const auto model = small_reader(5);
  const TokenPattern tokens(pattern, small_characters());
  const ExactTop top = search(model, tokens);
  const std::vector<Tried> tried = try_all(*model, pattern);
  ASSERT_EQ(top.records.size(), tried.size());
  EXPECT_EQ(top.bound, -INFINITY);
  EXPECT_EQ(top.proven, std::ssize(tried));
  expect_the_best(top, tokens, tried);
}

TEST(ExactTop, SaysHowManyAreProvenWhenItGivesUp) {
  const RecordPattern pattern = RecordPattern::parse("{dddddd}");
  const auto model = small_reader(9);
  const TokenPattern tokens(pattern, small_characters());
  const std::vector<Tried> tried = try_all(*model, pattern);
  bool some = false;
  for (const std::int64_t most : {10, 60, 200, 1000, 3000}) {
    ExactTopOptions options;
    options.top = 100;
    options.batch = 10;
    options.most_read = most;
    const ExactTop top = search(model, tokens, options);
    EXPECT_LE(top.read, most + options.batch);
    EXPECT_LE(top.proven, std::ssize(top.records));
    // The bound holds: whatever is above it is in the list.
    std::int64_t above = 0;
    for (const Tried& one : tried) above += one.log_probability > top.bound + 1e-4 ? 1 : 0;
    std::int64_t listed = 0;
    for (const TopRecord& record : top.records) listed += record.log_probability > top.bound - 1e-4 ? 1 : 0;
    EXPECT_GE(listed, above);
    for (std::int64_t i = 0; i < top.proven; ++i)
      EXPECT_NEAR(top.records[static_cast<std::size_t>(i)].log_probability,
                  tried[static_cast<std::size_t>(i)].log_probability, 1e-4);
    some = some || (top.proven > 0 && top.proven < 100);
  }
  EXPECT_TRUE(some);  // part of the list was proven at least once
}

}  // namespace
}  // namespace undertext
