// Which sentences, each how often, explain the gradient of a last block: a non-negative fit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"

namespace undertext {

struct Explanation {
  std::vector<double> weight;      // of each sentence
  std::vector<double> confidence;  // share of the energy of its steps that the gradient bears out, 0 to 1
  TailGradient residual;           // what is left of the gradient
  double left = 1;                 // its norm, relative
};

class Explainer {
 public:
  Explainer(std::shared_ptr<const Transformer> model, const Tail& tail)
      : model_(std::move(model)), tail_(tail) {}

  // filter: as it observed the gradient.
  Explanation fit(const Filter& filter, const TailGradient& gradient,
                  std::span<const Sentence> sentences) const;
  // With these weights, whatever they are. one: the weight of one occurrence, for the confidences.
  Explanation with(const Filter& filter, const TailGradient& gradient, std::span<const Sentence> sentences,
                   std::span<const double> weight, double one) const;

 private:
  std::shared_ptr<const Transformer> model_;
  const Tail& tail_;
};

}  // namespace undertext
