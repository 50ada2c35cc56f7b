// Ordinary central training, for the public model that an audit starts from.
#pragma once

#include <span>
#include <string>

#include "base/random.h"
#include "models/language_model.h"

namespace undertext {

// Adam (Kingma and Ba, 2015) on shuffled minibatches; the learning rate falls linearly to zero over the run.
struct Training {
  std::int64_t epochs = 6;
  std::int64_t batch = 64;  // sentences
  double learning_rate = 8e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double clip = 1;  // largest norm of a batch's mean gradient; longer ones are shortened to it
  std::string title = "training";
};

// Trains every parameter of the model in place and returns the perplexity on the held-out sentences. Shows
// progress on a terminal. The same bytes for the same seed, whatever the number of threads.
double train_model(LanguageModel& model, std::span<const Sentence> sentences,
                   std::span<const Sentence> held_out, const Training& training, Seed seed);

}  // namespace undertext
