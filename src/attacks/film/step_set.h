// All steps of some sentences, each once, and which are whose.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"

namespace undertext {

struct StepSet {
  TailContexts contexts;
  std::vector<std::int32_t> rows;  // of each step, its context
  std::vector<Token> tokens;
  TailSteps steps;
  std::vector<std::vector<std::int32_t>> of_sentence;
};

StepSet steps_of(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                 std::span<const Sentence> sentences);

// Of each step, from those of the sentences.
std::vector<double> step_weights(const StepSet& set, std::span<const double> weight);

// <step, gradient> of each, as the filter measures; left: its left sides of the contexts.
std::vector<double> responses_of(const Tail& tail, const Filter& filter, const StepSet& set,
                                 const Sides& left);

double squared_norm(const TailGradient& gradient);

}  // namespace undertext
