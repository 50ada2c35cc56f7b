// A proof that needs no truth: the gradient of the recovered sentences beside the one that was observed.
#pragma once

#include "attacks/film/film.h"
#include "models/transformer/transformer.h"

namespace undertext {

// Sets residual, and certified where nothing but rounding is left: of all of it and of each sentence.
void certify(const Observation& observation, const Transformer& model, FilmRecovery& recovery);

}  // namespace undertext
