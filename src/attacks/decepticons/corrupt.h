// The malicious server's part of decepticons: an ordinary model folder whose weights make clients' gradients
// spell out their texts.
#pragma once

#include <memory>
#include <span>

#include "attacks/decepticons/key.h"
#include "base/random.h"
#include "models/transformer/transformer.h"

namespace undertext {

struct CorruptOptions {
  DecepticonDesign design = DecepticonDesign::best;
  std::span<const Sentence> public_texts = {};  // for the statistics of measurements; empty: random tokens
  std::int64_t length = 32;                     // of the sequences that these are cut into
  double disguise = 0;  // Gaussian noise on the rows, in units of the probe's entries (appendix G)
  std::uint64_t seed = 1;
};

struct CorruptedState {
  std::shared_ptr<Transformer> model;
  DecepticonKey key;
};

// UserError for a model that has no room for the attack.
CorruptedState corrupt(const Transformer& model, const CorruptOptions& options);

// Each design's own part of it: both change `state.model` in place and fill in the key.
void corrupt_as_in_paper(CorruptedState& state, const CorruptOptions& options);
void corrupt_for_exact_recovery(CorruptedState& state, const CorruptOptions& options);

}  // namespace undertext
