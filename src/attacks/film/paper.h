// FILM as published: beam search over a bag of words by the model's own probabilities (algorithm 1), then
// reordering (section 4.4), again and again for more sentences (section 4.5).
#pragma once

#include "attacks/film/film.h"
#include "models/transformer/transformer.h"

namespace undertext {

// bag: ascending. longest: tokens of a sentence.
std::vector<FilmSentence> film_as_in_paper(const std::shared_ptr<const Transformer>& model,
                                           const std::vector<Token>& bag, std::int64_t longest,
                                           const FilmOptions& options);

}  // namespace undertext
