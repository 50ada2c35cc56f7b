// What one step of one text weighs in the gradient of a batch: 1 in a sum, one over all steps in a mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/film/step_scores.h"

namespace undertext {

// The weight of one occurrence: what the steps from single tokens that stand out most respond by, over their
// energy. 0: none stands out.
double weight_of_one(const std::vector<ScoredStep>& steps);

class StepWeight {
 public:
  // known: 0: the loss is a mean. batch: texts; 0: unknown. longest: tokens of the longest of them; 0:
  // unknown.
  StepWeight(double known, std::int64_t batch, std::int64_t longest)
      : known_(known), batch_(batch), longest_(longest) {}

  bool known() const { return known_ > 0; }
  bool batch_known() const { return batch_ > 0; }
  std::int64_t batch() const { return batch_; }  // texts; 0: unknown
  // From the first steps' responses.
  double first(const std::vector<ScoredStep>& steps) const;
  // From the weights that a fit gave to texts. Those that are right have the weight of one occurrence, or
  // rarely of more; those that are wrong share it with others, or make up for what is missing.
  double of_texts(std::span<const double> weight, double guess) const;

 private:
  double plausible(double weight) const;

  double known_;
  std::int64_t batch_, longest_;
};

}  // namespace undertext
