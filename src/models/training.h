// Ordinary central training: of the public model that an audit starts from, and of models that users bring.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/random.h"
#include "models/adam.h"
#include "models/language_model.h"

namespace undertext {

// Adam on shuffled minibatches; the learning rate falls linearly to zero over the run.
struct Training {
  std::int64_t epochs = 6;
  std::int64_t batch = 64;  // sentences
  double learning_rate = 8e-3;
  AdamOptions adam = {};
  // Epochs without a lower perplexity on the held-out sentences after which training ends, with the weights
  // of the best epoch; 0: it goes on to the end and keeps the last.
  std::int64_t patience = 0;
  bool train_embedding = true;  // false: the token embedding stays as it is
  // Ends after so many steps, with the weights as they are then, while the rate falls as over all epochs; 0:
  // never.
  std::int64_t stop_after = 0;
  // Where each step's gradient comes from, and a name for it that differs where its numbers do.
  GradientSource gradient = {};
  std::string gradient_name = {};
  // Where to keep what a later call with the same arguments goes on from; empty: nowhere. Removed at the end.
  std::filesystem::path checkpoint = {};
  std::string title = "training";
};

struct TrainingResult {
  double perplexity = 0;        // on the held-out sentences
  std::int64_t epochs = 0;      // begun
  std::int64_t steps = 0;       // done in all
  bool stopped_early = false;   // by patience
  std::int64_t resumed_at = 0;  // the step of the checkpoint that it went on from; 0: none
};

// Trains the parameters of the model in place. Shows progress on a terminal. The same bytes for the same
// seed, whatever the number of threads and however often it was interrupted and called again. after_step:
// called with the number of steps done; what it throws ends the training and leaves a checkpoint.
TrainingResult train_model(LanguageModel& model, std::span<const Sentence> sentences,
                           std::span<const Sentence> held_out, const Training& training, Seed seed,
                           const std::function<void(std::int64_t)>& after_step = {});

}  // namespace undertext
