// FILM, section 4.4: phrases and then tokens of a sentence change places as long as its prior score falls.
#pragma once

#include "attacks/film/film.h"
#include "attacks/film/prior_score.h"

namespace undertext {

// As the published code has them.
inline constexpr std::size_t kCutsKept = 256;    // of all cuts, by their links
inline constexpr std::size_t kPhraseMoves = 64;  // of these, scored in a step
inline constexpr std::size_t kTokenMoves = 50;   // scored in a step

struct ReorderOptions {
  FilmReorder what = FilmReorder::both;
  std::int64_t phrase_steps = 200, token_steps = 200;
  bool swaps_only = false;    // no token is deleted or inserted, as the published code has it
  std::int64_t longest = 40;  // tokens
  Seed seed{1};
};

// The first token stays where it is. Returns the score; a sentence of less than three tokens is left alone.
double reorder(Sentence& sentence, PriorScore& score, const std::vector<Token>& bag,
               const ReorderOptions& options);

// Footnote 7: what follows the first of these ends goes, where that lowers the score (or always).
void cut_at_end(Sentence& sentence, PriorScore& score, const std::vector<Token>& ends, bool always);

}  // namespace undertext
