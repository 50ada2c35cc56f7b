// Sums of sentences' gradients that are weighed by their norms, as differentially private training does.
#pragma once

#include <functional>
#include <span>

#include "models/language_model.h"

namespace undertext {

// How much a sentence counts, given the norm of its own gradient.
using WeightOfNorm = std::function<double(std::size_t sentence, double norm)>;

// A model that finds norms and sum in one go.
class ClippedGradient {
 public:
  virtual ~ClippedGradient() = default;
  virtual double add_clipped_gradient(std::span<const Sentence> sentences, const WeightOfNorm& weight_of,
                                      NamedTensors& gradient) const = 0;
};

// Adds the gradient of each sentence's sum of losses, times the weight that its norm over the tensors in
// `gradient` gives it; asks for each sentence's once, in their order. By the model's own way where it has
// one. Returns the sum of losses, unweighted.
double add_clipped_gradient(const LanguageModel& model, std::span<const Sentence> sentences,
                            const WeightOfNorm& weight_of, NamedTensors& gradient);

}  // namespace undertext
