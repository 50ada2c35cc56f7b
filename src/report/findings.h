// What the numbers say, in plain words. Every sentence is derived from the rows, none is a standing opinion.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace undertext {

struct KeyFigure {
  std::string value, label, note;
};

struct Findings {
  std::string verdict;             // one sentence: who reads how much
  std::vector<std::string> lead;   // the sentences that belong beside it
  std::vector<KeyFigure> figures;  // three to six
};

// "Curious server" within a sentence, or as its beginning: "a curious server", "A curious server".
std::string with_article(std::string name, bool begins);

Findings findings_of(const Results& results);

// The row behind the verdict: what an adversary without the truth reads when nothing is done about it.
// Sentences before words, undefended before defended, then the largest leak, then the largest client.
const ResultRow& strongest_row(const Results& results);

}  // namespace undertext
