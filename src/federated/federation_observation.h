// What every client of a federation sees, and so does an adversary among them (record-level, section III):
// the global model after each round, and who took part, as far as that is known. The server is trusted; no
// update is seen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/language_model.h"
#include "text/tokenizer.h"

namespace undertext {

enum class TookPart { no, yes, unknown };

struct FederationObservation {
  std::int64_t clients = 0;  // N
  std::int64_t rounds = 0;   // T
  std::shared_ptr<const Tokenizer> tokenizer;
  // The global model after a round, 0 to rounds; 0: what the first round began with. Each call reads it anew,
  // so that a long federation of a large model need not be held at once. May be called from several threads.
  std::function<std::shared_ptr<const LanguageModel>(std::int64_t round)> model;
  // [round - 1][client]: whether that client's update went into the model after the round.
  std::vector<std::vector<TookPart>> took_part;
};

}  // namespace undertext
