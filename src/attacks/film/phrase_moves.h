// Sentences made from one by cutting it into phrases and putting these in another order (FILM, section 4.4),
// cut where it promises most: as Malkin et al. (2021) do, by how likely each phrase follows its new
// neighbour.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "base/random.h"
#include "text/tokenizer.h"

namespace undertext {

// Places where the phrases after the first begin, ascending; phrases[i] is in which order they come: the
// first and the last stay.
struct PhraseCut {
  std::vector<std::size_t> places;
  double gain = 0;  // of log-probability at the cuts, as far as links tell
};

// What the new neighbours' links are above the old ones. links: as Trunk::links gives them.
double link_gain(const Matrix<double>& links, const std::vector<std::size_t>& places,
                 const std::vector<std::size_t>& order);

// The `most` ways with the greatest gain to cut a sentence of `length` tokens into order.size() phrases that
// then come in this order; greatest first. No cut comes before the first token, one may come after the last.
std::vector<PhraseCut> best_cuts(const Matrix<double>& links, const std::vector<std::size_t>& order,
                                 std::size_t length, std::size_t most);

Sentence moved(const Sentence& sentence, const std::vector<std::size_t>& places,
               const std::vector<std::size_t>& order);

// One draw: 3 to 5 cuts and an order for the phrases; `count` of the `most` best cuts.
std::vector<Sentence> phrase_moves(const Sentence& sentence, const Matrix<double>& links, std::size_t most,
                                   std::size_t count, Random& random);

}  // namespace undertext
