#include "attacks/decepticons/corrupt.h"

#include <cmath>

#include "attacks/decepticons/disguise.h"
#include "base/error.h"

namespace undertext {

CorruptedState corrupt(const Transformer& model, const CorruptOptions& options) {
  if (!(options.disguise >= 0) || !std::isfinite(options.disguise))
    fail("a disguise of {}, expected the deviation of its noise, 0 or more", options.disguise);
  CorruptedState state;
  // A copy of the numbers, which may be a mapped file, and of what hides words from a masked model.
  state.model = std::static_pointer_cast<Transformer>(std::shared_ptr<LanguageModel>(model.clone()));
  state.key.design = options.design;
  state.key.disguise = options.disguise;
  state.key.seed = options.seed;
  if (options.design == DecepticonDesign::paper)
    corrupt_as_in_paper(state, options);
  else
    corrupt_for_exact_recovery(state, options);
  disguise(*state.model, options.disguise, Seed(options.seed).derive("disguise"));
  state.key.state_hash = hash_of(state.model->parameters());
  return state;
}

}  // namespace undertext
