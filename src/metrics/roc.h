// Whether what an attack says of its own recoveries separates the right ones from the invented ones.
#pragma once

#include <optional>
#include <span>

namespace undertext {

struct JudgedRecovery {
  double confidence = 0;
  bool right = false;
};

// The area under the ROC curve: how often a right one has more confidence than a wrong one, ties counted
// half. Nothing where all are right or all are wrong.
std::optional<double> area_under_curve(std::span<const JudgedRecovery> recoveries);

}  // namespace undertext
