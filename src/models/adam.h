// Adam (Kingma and Ba, 2015) with decoupled weight decay (AdamW, Loshchilov and Hutter, 2019).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "models/language_model.h"

namespace undertext {

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double clip = 1;  // largest norm of a batch's mean gradient; longer ones are shortened to it
  // Largest size of each of its numbers, after that; larger ones are cut to it.
  double clip_value = std::numeric_limits<double>::infinity();
  double weight_decay = 0;  // of matrices; biases and norms are left alone
};

// Adds the gradient of a batch's mean loss to tensors that are zero, those of what is trained; returns the
// mean loss. step counts from 0.
using GradientSource =
    std::function<double(std::span<const Sentence> batch, std::int64_t step, NamedTensors& gradient)>;

class Adam {
 public:
  // names: what is trained. source: where gradients come from; empty: from the model.
  Adam(LanguageModel& model, const AdamOptions& options, const std::vector<std::string>& names,
       GradientSource source = {});

  // One step on the batch's mean loss, which is returned. UserError when the loss is not finite.
  double step(std::span<const Sentence> batch, double rate);

  std::int64_t steps() const { return steps_; }
  // The moments by the parameters' names; a checkpoint keeps and restores them.
  NamedTensors& means() { return mean_; }
  NamedTensors& squares() { return square_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  void update(const std::string& name, double shorten, double rate, double correction, double root);

  LanguageModel& model_;
  AdamOptions options_;
  GradientSource source_;
  NamedTensors gradient_, mean_, square_;
  std::int64_t steps_ = 0;
};

}  // namespace undertext
