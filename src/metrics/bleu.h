// BLEU (Papineni et al., 2002) of sequences of tokens.
#pragma once

#include <span>

#include "text/tokenizer.h"

namespace undertext {

// Corpus BLEU-4 without smoothing, every recovered sequence compared with all true ones as its references, as
// decepticons (appendix A) does: the geometric mean of the shares of 1- to 4-grams that some reference has,
// each as often as the one that has it most, times the penalty for being too short. 0 when any share is 0,
// among it that of 4-grams when all sequences are shorter.
double bleu(std::span<const Sentence> references, std::span<const Sentence> recovered);

}  // namespace undertext
