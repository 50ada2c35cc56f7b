// Text of the model's own making: what a filter learns from how contexts vary, before any text is known.
#pragma once

#include <memory>
#include <span>

#include "attacks/film/tail.h"
#include "base/random.h"

namespace undertext {

struct OwnText {
  TailContexts contexts;
  TailSteps steps;
};

// `texts` texts of `length` tokens, the first drawn evenly from `starts`, each further one half the time from
// the model and half the time evenly from `starts`: real text surprises a model more than its own does.
OwnText own_text(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                 std::span<const Token> starts, std::int64_t texts, std::int64_t length, Seed seed);

}  // namespace undertext
