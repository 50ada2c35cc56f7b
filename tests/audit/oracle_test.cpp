#include "audit/oracle.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/cifg_lstm.h"

namespace undertext {
namespace {

// An update that moves the output bias of word k by changes[k] and nothing else.
Observation moved(const std::vector<float>& changes) {
  const std::shared_ptr<CifgLstm> model = CifgLstm::random(
      {.vocabulary = static_cast<std::int64_t>(changes.size()), .embedding = 3, .units = 4}, Seed(1));
  const std::string bias = *model->parameter_of(Role::output_bias);
  const std::string hash = hash_of(model->parameters());
  Update update;
  update.protocol.base_hash = hash;
  update.tensors[bias] = model->parameters().at(bias) + torch::tensor(changes);
  return observe(model, hash, update);
}

std::vector<Token> ids(const WordRecovery& recovery) {
  std::vector<Token> words;
  for (const RecoveredWord& word : recovery.words) words.push_back(word.id);
  return words;
}

TEST(Oracle, TakesThePrefixWithTheBestF1) {
  // By size of the rise: 6, 3, 5, 4, ...; typed are 3, 4 and 6. Prefixes score 2/4, 4/5, 4/6, 6/7.
  const Observation observation = moved({0, 0, 0, .3f, .1f, .2f, .4f, -.1f});
  const std::vector<Sentence> truth = {{6, 3}, {4, 3}};
  EXPECT_EQ(ids(recover_words_by_oracle(observation, truth)), (std::vector<Token>{6, 3, 5, 4}));
  // Up to three words, the prefix of two is best.
  EXPECT_EQ(ids(recover_words_by_oracle(observation, truth, 3)), (std::vector<Token>{6, 3}));
  EXPECT_NEAR(recover_words_by_oracle(observation, truth).words[0].score, -.4, 1e-6);
}

TEST(Oracle, LooksBeyondTheWordsWhoseBiasRose) {
  const Observation observation = moved({-.5f, -.5f, -.5f, .3f, -.1f, -.2f});
  const std::vector<Sentence> truth = {{3, 4}};
  EXPECT_EQ(ids(recover_words_by_oracle(observation, truth)), (std::vector<Token>{3, 4}));
}

}  // namespace
}  // namespace undertext
