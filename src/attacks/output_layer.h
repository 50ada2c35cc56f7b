// The layer that turns a hidden vector into a distribution over words, as the attacks see it: the bias is one
// more column, and a hidden vector one more entry, h~ = [h; 1].
#pragma once

#include <functional>
#include <span>

#include "base/matrix.h"
#include "federated/observation.h"
#include "models/language_model.h"

namespace undertext {

class OutputLayer {
 public:
  explicit OutputLayer(const LanguageModel& model);

  std::int64_t words() const { return weight_.rows; }
  std::int64_t width() const { return weight_.cols; }  // D = E + 1
  const Matrix<float>& weight() const { return weight_; }

  // Calls use(i, p) with the probabilities p (words) after each hidden row i of h (n, D), on any thread.
  void softmax(const Matrix<float>& h, const std::function<void(std::int64_t, const float*)>& use) const;

 private:
  Matrix<float> weight_;  // (words, D)
};

// What the update says about the output layer: G (words, D) in double, one row per word, equal to
//   sum over contexts c of (p_c(k) - y_c(k)) h~_c
// where p_c is the model's prediction after c and y_c(k) how often k really followed
// (gboard-next-word, section 3.1, for weight rows as well as the bias). Divided by learning rate and epochs.
Matrix<double> output_gradient(const Observation& observation);

}  // namespace undertext
