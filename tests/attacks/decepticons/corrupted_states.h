// Small transformers, corrupted, and gradients that clients compute on them.
#pragma once

#include "attacks/decepticons/corrupt.h"
#include "federated/local_training.h"
#include "federated/observation.h"

namespace undertext {

inline TransformerConfig attacked_config(TransformerKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 200;
  config.width = 48;
  config.layers = 3;
  config.heads = 4;
  config.inner = 256;
  config.positions = 40;
  if (kind == TransformerKind::gpt2) {
    config.norm_first = config.causal = config.tied = true;
    config.activation = Activation::gelu_tanh;
  } else if (kind == TransformerKind::bert) {
    config.types = 2;
    config.tied = true;
    config.norm_epsilon = 1e-12;
    config.activation = Activation::gelu;
  }
  return config;
}

inline CorruptedState small_state(TransformerKind kind, CorruptOptions options = {}) {
  options.design = DecepticonDesign::paper;
  options.length = options.length == 32 ? 16 : options.length;
  const auto model = Transformer::random(attacked_config(kind), Seed(3));
  CorruptedState state = corrupt(*model, options);
  state.model->set_mask(199);
  return state;
}

// Sequences of tokens drawn at random, the first ones different.
inline std::vector<Sentence> random_texts(std::int64_t count, std::int64_t length, std::uint64_t seed = 7) {
  Random random{Seed(seed)};
  std::vector<Sentence> texts(static_cast<std::size_t>(count));
  for (std::size_t s = 0; s < texts.size(); ++s) {
    texts[s].push_back(static_cast<Token>((11 * s + 3) % 199));
    while (static_cast<std::int64_t>(texts[s].size()) < length)
      texts[s].push_back(static_cast<Token>(random.below(199)));
  }
  return texts;
}

inline Observation observed(const CorruptedState& state, const std::vector<Sentence>& texts,
                            UpdateKind kind = UpdateKind::gradient) {
  LocalTraining training;
  training.kind = kind;
  training.reduction = Reduction::mean;
  training.train_embedding = true;
  training.dropout = false;
  return observe(state.model, state.key.state_hash,
                 train_locally(*state.model, texts, training, state.key.state_hash, {}));
}

}  // namespace undertext
