// Models whose output weight is the token embedding itself. A typed word's row then holds two gradients: that
// of the output layer, which the attacks read, and that of the embedding, which every word read adds to.
#pragma once

#include <span>

#include "base/matrix.h"
#include "models/cifg_lstm.h"

namespace undertext {

// What reading these sentences adds to the embedding's gradient, summed over their words: (words, E). The
// part that a tied model adds to its output weight's rows.
Matrix<double> embedding_gradient(const CifgLstm& model, std::span<const Sentence> sentences);

}  // namespace undertext
