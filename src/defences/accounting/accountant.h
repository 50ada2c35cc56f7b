// What differentially private training is worth, by the accountant of one's choice, and how much noise a
// promise needs; with the statement that a privacy review asks for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "defences/accounting/noisy_steps.h"

namespace undertext {

enum class Accountant { renyi, prv, gaussian };

const char* name_of(Accountant accountant);
// UserError for a name that is none.
Accountant accountant_named(std::string_view name);

double epsilon_of(std::span<const NoisySteps> composition, double delta,
                  Accountant accountant = Accountant::prv);

// The least noise multiplier, to four digits and never below, with which so many steps stay within epsilon at
// delta. UserError where epsilon is not positive.
double noise_for(double epsilon, double rate, std::int64_t steps, double delta,
                 Accountant accountant = Accountant::prv);

// DP-FTRL: noisy sums over trees, which begin anew so often that nobody is in a leaf twice.
struct NoisyTrees {
  double sigma = 1;
  std::int64_t leaves = 1, trees = 1;
};

struct PrivacyClaim {
  double epsilon = 0, delta = 0;
  std::string unit = "example";  // whose presence is hidden: example, user
  Accountant accountant = Accountant::prv;
  bool approximate = false;              // a limit theorem's, not a bound
  std::optional<NoisyTrees> trees = {};  // in place of steps that draw their units
};

// In sentences: epsilon and delta, the unit of privacy, which data sets are neighbours, what is assumed of
// the sampling, and who did the accounting.
std::string statement_of(const PrivacyClaim& claim, std::span<const NoisySteps> composition);

}  // namespace undertext
