// A federation small enough for tests: four clients with texts of thirty words, a keyboard's model.
#pragma once

#include "federated/clients.h"
#include "federated/federation.h"
#include "text/vocabulary.h"

namespace undertext {

inline std::shared_ptr<const Tokenizer> thirty_words() {
  std::vector<std::string> words = {"</S>", "<S>", "<UNK>"};
  while (words.size() < 30) words.push_back("word" + std::to_string(words.size()));
  return std::make_shared<const Vocabulary>(words);
}

inline ClientTexts some_texts(std::uint64_t seed, int count) {
  Random random{Seed(seed)};
  ClientTexts texts;
  for (int i = 0; i < count; ++i) {
    texts.texts.emplace_back();
    for (int w = 0; w < 5; ++w) texts.texts.back().push_back(static_cast<Token>(3 + random.below(27)));
  }
  return texts;
}

inline FederationParties small_parties() {
  FederationParties parties;
  parties.model = tiny_model();
  for (std::uint64_t client = 0; client < 4; ++client)
    parties.clients.push_back(some_texts(client, 4 + 2 * static_cast<int>(client)));
  parties.validation = some_texts(99, 10);
  return parties;
}

inline FederationOptions small_options(std::int64_t rounds) {
  FederationOptions options;
  options.rounds = rounds;
  options.selection.per_round = 2;
  options.local = {.epochs = 2,
                   .batch = 3,
                   .learning_rate = 0.01,
                   .reduction = Reduction::mean,
                   .train_embedding = true,
                   .optimiser = Optimiser::adam,
                   .clip_value = 1};
  options.seed = Seed(7);
  return options;
}

}  // namespace undertext
