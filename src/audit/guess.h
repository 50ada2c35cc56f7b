// What can be said of a client's words without looking at its update.
#pragma once

#include <optional>
#include <span>

#include "text/tokenizer.h"

namespace undertext {

// The F1 of a guess: the words that are most frequent in public texts, as many as the truth has. An adversary
// does not know how many, so this is the most that guessing comes to. Nothing without public texts.
std::optional<double> guessed(std::span<const Sentence> truth, std::span<const Sentence> known);

}  // namespace undertext
