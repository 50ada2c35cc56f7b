// Which of the defences tried help, and what they cost: comparisons of rows that differ in the defence alone.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/results.h"

namespace undertext {

// A defence protects when an adversary without the truth reads at most this share of the messages word for
// word, or of the sequences' tokens in their place, in every case tried.
inline constexpr double kProtected = 0.05;

// One defence at one strength, against the same clients without it. "Leak" is ResultRow::leak() of the
// strongest method that needs no truth.
struct DefenceEffect {
  ReportedDefence defence;
  int cases = 0;                             // updates with a row both with and without it
  double mean_before = 0, mean_after = 0;    // leak
  double worst_before = 0, worst_after = 0;  // leak, in the case with the largest leak under the defence
  std::string worst_case;                    // that case, in words
  std::optional<double> words_before, words_after;      // mean F1 of the set of words
  std::optional<double> utility_before, utility_after;  // mean perplexity after local training
  bool protects() const { return worst_after <= kProtected; }
  // Relative rise of the perplexity; nothing when it was not measured.
  std::optional<double> cost() const;
};

struct Advice {
  std::string grade;  // "protects", "weakens" or "does not help"
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // what was measured, and the numbers
};

// In the order of the rows.
std::vector<DefenceEffect> defence_effects(const Results& results);

// The defence that protects at the least cost, if one does.
std::optional<DefenceEffect> cheapest_protection(const Results& results);

// "perplexity +14% (30.9 to 35.2)".
std::string cost_text(const DefenceEffect& effect);

// One sentence on what was tried, for the top of the page.
std::string headline_advice(const Results& results);

// One entry per defence, then what client size and more local training do by themselves.
std::vector<Advice> advice_of(const Results& results);

}  // namespace undertext
