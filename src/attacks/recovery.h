// What attacks hand back.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

struct RecoveredWord {
  Token id = 0;
  double count = 1;  // how often it was typed, as far as the update tells
  double score = 0;  // before - after of its output bias: negative where the sign test finds it (Table 1)
};

struct WordRecovery {
  std::vector<RecoveredWord> words;  // best first
  std::string rule;                  // how the words were told from the rest, in a few words
};

struct RecoveredSentence {
  Sentence words;
  double score = 0;  // best first; what it means is the method's own (perplexity change, or copies found)
};

struct SentenceRecovery {
  std::vector<RecoveredSentence> sentences;  // one entry per copy, best first
  bool certified = false;  // the observed update is, to rounding, the one that these sentences give
  double residual = 1;     // share of the output layer's gradient left unexplained (1: not computed)
  double scale = 0;        // the scaling factor used (--method paper)
};

// Without their scores, in the same order.
Sentence ids_of(const WordRecovery& recovery);
std::vector<Sentence> sentences_of(const SentenceRecovery& recovery);

}  // namespace undertext
