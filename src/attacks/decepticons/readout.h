// What a malicious server reads from the gradient of a corrupted state.
#pragma once

#include <cstdint>
#include <vector>

#include "attacks/decepticons/key.h"
#include "base/random.h"
#include "federated/observation.h"
#include "models/transformer/transformer.h"

namespace undertext {

struct DecepticonOptions {
  std::int64_t sequences = 0, length = 0;  // B and S; 0: as the gradient shows
  double bag_cutoff = 1.5;                 // of tied embeddings (appendix H.1)
  Seed seed{1};
};

struct RecoveredSequence {
  Sentence ids;                    // `length` of them
  std::vector<double> confidence;  // of each, in [0, 1]
  std::vector<bool> certified;     // whether token and place together explain what was observed
};

struct DecepticonRecovery {
  std::vector<RecoveredSequence> sequences;
  std::int64_t length = 0;  // S as it was told or found
};

// decepticons, algorithm 1.
DecepticonRecovery read_as_in_paper(const Observation& observation, const DecepticonKey& key,
                                    const DecepticonOptions& options);
// Ours: mixtures decoded against the dictionary of tokens and places, then peeled off layer by layer.
DecepticonRecovery read_exactly(const Observation& observation, const DecepticonKey& key,
                                const DecepticonOptions& options);

// The transformer that went out; UserError where the observation's model is none, or the update no gradient
// of one step that holds what the readout needs, or the key of another state.
const Transformer& corrupted_model(const Observation& observation, const DecepticonKey& key);

}  // namespace undertext
