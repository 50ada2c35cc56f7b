// Gradient matching: invents inputs until their gradient is the one that was observed. DLG (Zhu et al., 2019)
// by L-BFGS on the squared distance, TAG (Deng et al., 2021) by Adam with an absolute distance that weighs
// the first layers most. The baselines of film (appendix B.3), decepticons (section 4) and gboard-next-word
// (section 5.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/recovery.h"
#include "base/random.h"
#include "federated/observation.h"

namespace undertext {

enum class MatchingMethod { dlg, tag };

// Where the words to be predicted come from.
enum class MatchingLabels {
  optimised,  // invented like the inputs, over the whole vocabulary
  recovered,  // invented over the words that the update shows
  known,      // told to the attacker: an oracle, since a language model's labels are its text
};

struct MatchingOptions {
  MatchingMethod method = MatchingMethod::tag;
  MatchingLabels labels = MatchingLabels::optimised;
  // Inputs and labels are mixtures of these words alone, the same mixture where a word is both (a bag of
  // words as prior); empty: no prior.
  std::span<const Token> bag = {};
  std::span<const Sentence> known = {};  // for MatchingLabels::known alone
  std::int64_t count = 0;                // sentences; 0: as the protocol says
  std::int64_t length = 0;               // words of each; 0: as the position embedding's gradient shows
  std::int64_t iterations = 0;           // 0: the method's own
  std::int64_t restarts = 1;             // the one that matches best is the answer
  double step_size = 0;                  // 0: the method's own
  double alpha = 0.01;                   // TAG: weight of the absolute distance
  Seed seed{1};
  bool progress = false;
};

// residual: the distance that is left, as a share of the observed gradient's own squared size.
// UserError where the update is not one step, or count or length are neither told nor to be seen.
SentenceRecovery recover_by_matching(const Observation& observation, const MatchingOptions& options);

}  // namespace undertext
