// FILM with the gradient as guide and judge: steps found by a matched filter, sentences by a non-negative
// fit.
#pragma once

#include "attacks/film/film.h"
#include "models/transformer/transformer.h"

namespace undertext {

// What film() gives for FilmMethod::best, but for the bag.
FilmRecovery film_by_evidence(const Observation& observation, const std::shared_ptr<const Transformer>& model,
                              const FilmOptions& options);

}  // namespace undertext
