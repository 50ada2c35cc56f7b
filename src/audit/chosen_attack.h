// Attacks by the names that flags, experiments and reports share: the one place that turns a name into a
// call.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

struct WordAttack {
  std::string method = "best";  // best, paper
  std::string cutoff = "auto";  // paper: none, auto, oracle
};

struct SentenceAttack {
  std::string method = "best";
  std::string cutoff = "auto";       // paper: how the words that it starts from are told apart
  std::int64_t length = 0;           // words per sentence when known; 0: any (paper: its own 4)
  std::int64_t count = 0;            // number of sentences when known
  std::optional<double> scale = {};  // paper: empty is chosen without the truth
};

// truth: for the cutoff "oracle" alone, and otherwise not looked at.
WordRecovery recover(const WordAttack& attack, const Observation& observation,
                     std::span<const Sentence> truth);
SentenceRecovery recover(const SentenceAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth);

}  // namespace undertext
