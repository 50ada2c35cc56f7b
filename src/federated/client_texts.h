// What a client of a federation trains on, epoch after epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "text/tokenizer.h"

namespace undertext {

struct ClientTexts {
  // Each in one piece; with a sequence length all of them are read as one stream.
  std::vector<Sentence> texts;
  // Tokens that are predicted in each sequence of the stream; 0: texts as they are.
  std::int64_t sequence = 0;

  // |D_i| of record-level, eq. 1: the tokens of a stream, otherwise the texts.
  std::int64_t size() const;
};

// The texts of one epoch, in an order drawn from the seed. A stream is cut anew in every epoch, from a random
// place within the first sequence on, so that a model meets every text at every place of a sequence; what is
// left over at both ends waits for another epoch. overlap: tokens that begin a sequence and end the one
// before, 1 for a model that does not predict a sequence's first token. UserError for a stream that holds no
// whole sequence at every place it may be cut from.
std::vector<Sentence> epoch_of(const ClientTexts& texts, std::int64_t overlap, Seed seed);

// The same of a stream for a model that reads on where the step before ended: cut from a random place too,
// but every so many sequences, `lanes` of them, are the next ones of as many runs through the text, each of
// which goes on from step to step.
std::vector<Sentence> epoch_in_lanes(const ClientTexts& texts, std::int64_t overlap, std::int64_t lanes,
                                     Seed seed);

// A whole stream, or the texts as they are, for a likelihood: nothing is drawn, and a stream's last sequence
// may be shorter.
std::vector<Sentence> whole_of(const ClientTexts& texts, std::int64_t overlap);

}  // namespace undertext
