#include "attacks/records/record_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "small_reader.h"

namespace undertext {
namespace {

TEST(RecordTree, ReadsWhatReadingEachInWholeReads) {
  const RecordPattern pattern = RecordPattern::parse("{ab|a}: {dd}-{d}");
  const auto model = small_reader(4);
  const CharacterTokenizer characters = small_characters();
  const TokenPattern tokens(pattern, characters);
  const std::vector<std::string> texts = {"a: 12-3", "ab: 12-4", "a: 12-9", "a: 99-9", "a: 12-3"};
  std::vector<Sentence> records;
  for (const std::string& text : texts) records.push_back(characters.encode(text));
  const RecordTree tree(tokens, records);
  const std::vector<RecordLikelihood> found = tree.likelihoods(model);
  const std::vector<double> nll = model->negative_log_likelihood(records);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_NEAR(found[i].whole, -nll[i], 1e-4) << texts[i];
    EXPECT_EQ(tree.predicted(static_cast<std::int64_t>(i), *model), std::ssize(records[i]));
  }
  EXPECT_EQ(tree.free(0), 4);
  EXPECT_EQ(tree.free(1), 5);
}

TEST(RecordTree, TellsFreeTokensAndThoseOfThePatternApart) {
  const RecordPattern pattern = RecordPattern::parse("no {d}-{d}");
  const auto model = small_reader(6);
  const CharacterTokenizer characters = small_characters();
  const TokenPattern tokens(pattern, characters);
  const auto log_p = [&](const std::string& text) {
    return -model->negative_log_likelihood(std::vector<Sentence>{characters.encode(text)})[0];
  };
  const RecordTree tree(tokens, std::vector<Sentence>{characters.encode("no 4-7")});
  const RecordLikelihood found = tree.likelihoods(model)[0];
  EXPECT_NEAR(found.free, log_p("no 4") - log_p("no ") + log_p("no 4-7") - log_p("no 4-"), 1e-4);
  double first = 0, second = 0;
  for (char digit = '0'; digit <= '9'; ++digit) {
    first += std::exp(log_p(std::string("no ") + digit) - log_p("no "));
    second += std::exp(log_p(std::string("no 4-") + digit) - log_p("no 4-"));
  }
  EXPECT_NEAR(found.given, found.free - std::log(first) - std::log(second), 1e-4);
}

TEST(RecordTree, GivenThePatternAllTextsSumToOne) {
  const RecordPattern pattern = RecordPattern::parse("n{a|b}{dd}");  // no text begins another
  const CharacterTokenizer characters = small_characters();
  const TokenPattern tokens(pattern, characters);
  std::vector<Sentence> records;
  for (const std::string& text : pattern.all()) records.push_back(characters.encode(text));
  double sum = 0;
  for (const RecordLikelihood& one :
       RecordTree(tokens, records, characters.encode("\n")).likelihoods(small_reader(2)))
    sum += std::exp(one.given);
  EXPECT_NEAR(sum, 1, 1e-5);
}

}  // namespace
}  // namespace undertext
