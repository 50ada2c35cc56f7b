// What a client does with its texts: Algorithm 1 of gboard-next-word (3 and 4 with a defence plugged in), or
// Adam on shuffled texts as in record-level, section V.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "federated/client_texts.h"
#include "federated/defence.h"
#include "federated/update.h"
#include "models/language_model.h"

namespace undertext {

enum class Optimiser { sgd, adam };
// Which texts a step takes: the next ones, or, as differentially private training counts on (Abadi et al.,
// 2016), each of them on its own with a chance of batch / texts. A mean under a bound on each text's gradient
// then divides by the batch, whatever was drawn, and a step of no text has its noise alone.
enum class Sampling { in_order, poisson };

// Steps of an epoch over so many texts.
std::int64_t steps_per_epoch(std::int64_t texts, std::int64_t batch);

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
  Optimiser optimiser = Optimiser::sgd;  // adam: its moments begin anew with each call
  // Of each step's gradient, as the defences leave it and before it is applied; 0: as it is.
  double clip_norm = 0;   // the whole of it, scaled down to this norm
  double clip_value = 0;  // after that each number, cut to between this and its negative
  // Of a stream: each step reads on where the one before ended, along as many runs through the text as a
  // batch has sequences. UserError for a model that cannot. False: every sequence is read from nothing.
  bool carry_state = false;
  Sampling sampling = Sampling::in_order;  // poisson: of texts as they are, no stream
};

// Trains a copy of `base` on the sentences in their order, without shuffling, and returns what the client
// sends. base_hash is the caller's hash_of(base.parameters()), computed once per model.
Update train_locally(const LanguageModel& base, std::span<const Sentence> sentences,
                     const LocalTraining& training, const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences = {});

// The same on texts that every epoch cuts and shuffles anew, from training.seed.
Update train_locally(const LanguageModel& base, const ClientTexts& texts, const LocalTraining& training,
                     const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences = {});

// Tokens that a sequence of a stream shares with the one before: 1 for a model that reads no start token, and
// so predicts no sequence's first token.
std::int64_t overlap_for(const LanguageModel& model);

}  // namespace undertext
