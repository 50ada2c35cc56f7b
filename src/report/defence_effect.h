// What each defence that was tried does to a leak, and what it costs: comparisons of rows that differ in the
// defence alone, under one threat model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/results.h"

namespace undertext {

// A defence protects when an adversary without the truth reads at most this share more than it could have
// guessed, in every case tried: of messages word for word, of sequences' tokens in their place, of records,
// of words.
inline constexpr double kProtected = 0.05;

// The leak of the strongest attack that needs no truth, over clients that were attacked both with and without
// the defence.
struct LeakChange {
  int cases = 0;
  double mean_before = 0, mean_after = 0;
  double worst_before = 0, worst_after = 0;  // in the case with the largest leak under the defence
  std::string worst_case;                    // that case, in words
  double beyond_chance = 0;                  // the most by which a leak exceeds what could be guessed
  bool protects() const { return beyond_chance <= kProtected; }
  // "protects", "weakens" (halves the worst case) or "does not help".
  std::string grade() const;
};

// One defence at one strength, under one threat model.
struct DefenceEffect {
  ReportedDefence defence;
  std::string threat_model;                             // its id
  LeakChange read;                                      // of what the threat model is about: main_attack()
  std::optional<LeakChange> words;                      // of the set of words, where that is another thing
  std::optional<double> utility_before, utility_after;  // mean perplexity after local training
  std::optional<double> epsilon, delta;                 // the guarantee, in the case where it is weakest
  std::optional<double> slowdown;                       // of the client's training, a factor
  bool adaptive = true;  // every attack that counted was told of the defence and used it
  std::string told;      // what they were told
  // Relative rise of the perplexity; nothing when it was not measured.
  std::optional<double> cost() const;
};

// The attack that a threat model is judged by: records or whole texts before sets of words; "" where nothing
// was read without the truth.
std::string main_attack(const Results& results, const std::string& threat_model);

// The largest leak without a defence; nothing where none was measured.
std::optional<double> undefended_leak(const Results& results, const std::string& threat_model,
                                      const std::string& attack);

// In the order of the rows, which for one kind is that of its strengths.
std::vector<DefenceEffect> defence_effects(const Results& results, const std::string& threat_model);

// In the order in which one would choose: those that protect from an attack that knows of them, those that
// protect from one that does not, those that weaken; among these the least
// cost, then those with a guarantee, then the least leak.
std::vector<DefenceEffect> in_order_of_choice(std::vector<DefenceEffect> effects);

// Whether nothing else is at least as good in both leak and cost: the points that make up a frontier. One
// flag by point; of points that look the same the first alone.
struct FrontierPoint {
  double leak = 0, cost = 0;
};
std::vector<bool> best_of_both(const std::vector<FrontierPoint>& points);

}  // namespace undertext
