// ROUGE (Lin, 2004): words, pairs of words and longest common subsequences that two texts share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// The words that ROUGE compares: lower case, split at everything that is neither a letter nor a digit; bytes
// beyond ASCII count as letters. With stemming, words of more than three letters are cut to their stems.
enum class Stemming { none, porter };
std::vector<std::string> rouge_words(std::string_view text, Stemming stemming = Stemming::none);

// F1 of the n-grams that the two share, each as often as both have it; 0 when either has none.
double rouge_n(std::span<const std::string> truth, std::span<const std::string> recovered, std::size_t n);
// F1 of the longest common subsequence.
double rouge_l(std::span<const std::string> truth, std::span<const std::string> recovered);

struct RougeScores {
  double rouge_1 = 0, rouge_2 = 0, rouge_l = 0;  // mean over the true texts, each with one recovered text
};

// Texts are paired one-to-one so that the sum of ROUGE-L is greatest (of ROUGE-1 where that is equal); a true
// text without a partner counts 0. Published figures often take the best true text for each recovered one,
// with reuse, which is never less.
RougeScores score_rouge(std::span<const std::string> truth, std::span<const std::string> recovered,
                        Stemming stemming = Stemming::none);

void to_json(nlohmann::json& json, const RougeScores& scores);

}  // namespace undertext
