// The norm of each sentence's own gradient from one way back for all.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "models/char_lstm/training_piece.h"

namespace undertext {

// The squared norm over the wanted parameters of the gradient of the sentence at that place of the piece.
double squared_gradient_norm(const TrainingCall& call, const TrainingPiece& piece, std::int64_t place,
                             const CharLstmNames& names, const std::set<std::string>& wanted);

}  // namespace undertext
