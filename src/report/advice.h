// What to do about a leak, in words: which of the defences tried help, what they cost, and what does not help
// by itself.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/defence_effect.h"
#include "report/results.h"

namespace undertext {

struct Advice {
  std::string grade;  // "protects", "weakens" or "does not help"
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // what was measured, and the numbers
};

// What one threat model comes to.
struct ThreatVerdict {
  std::string threat_model;            // its id
  std::vector<std::string> sentences;  // how much is read; what stops it; what does so with a guarantee
};

// The defence that protects at the least cost, if one does.
std::optional<DefenceEffect> cheapest_protection(const Results& results, const std::string& threat_model);

// "perplexity +14% (30.9 to 35.2)".
std::string cost_text(const DefenceEffect& effect);
// "+14%", "×12"; an en dash where utility was not measured.
std::string rise_text(const DefenceEffect& effect);
// "3.21"; an en dash where there is no guarantee.
std::string epsilon_text(const std::optional<double>& epsilon);

// One for each threat model that something was read under.
std::vector<ThreatVerdict> verdicts_of(const Results& results);

// One sentence on what was tried against the strongest case's adversary, for the top of the page.
std::string headline_advice(const Results& results);

// What client size and more local training do by themselves.
std::vector<Advice> undefended_advice(const Results& results);

}  // namespace undertext
