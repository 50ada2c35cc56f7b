// What a client does with its texts: Algorithm 1 of gboard-next-word (3 and 4 with a defence plugged in).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "federated/defence.h"
#include "federated/update.h"
#include "models/language_model.h"

namespace undertext {

struct LocalTraining {
  std::int64_t epochs = 1;
  std::int64_t batch = 0;  // sentences per step; 0: all in one
  double learning_rate = 0.001;
  Reduction reduction = Reduction::sum;  // over the predicted tokens of a batch
  bool train_embedding = false;
  bool zero_output_bias = false;
  UpdateKind kind = UpdateKind::weights;  // gradient: one batch, one epoch, nothing applied
  bool dropout = true;  // as the model's config says; masked models then also hide other words in each step
  Seed seed{1};         // of both
};

// Trains a copy of `base` on the sentences in their order, without shuffling, and returns what the client
// sends. base_hash is the caller's hash_of(base.parameters()), computed once per model.
Update train_locally(const LanguageModel& base, std::span<const Sentence> sentences,
                     const LocalTraining& training, const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences = {});

}  // namespace undertext
