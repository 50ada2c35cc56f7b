// What a server can read from one client's masked update: nothing.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <set>

#include "attacks/words.h"
#include "defences/secure_aggregation/fixed_point.h"
#include "defences/secure_aggregation/secure_sum.h"
#include "federated/local_training.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

constexpr std::int64_t kClients = 12, kVocabulary = 120;

std::vector<Sentence> texts_of(std::int64_t client) {
  Random random(Seed(5).derive(static_cast<std::uint64_t>(client)));
  std::vector<Sentence> texts(6);
  for (Sentence& text : texts)
    for (int i = 0; i < 4; ++i) text.push_back(static_cast<Token>(3 + random.below(kVocabulary - 3)));
  return texts;
}

std::vector<double> numbers_of(const NamedTensors& tensors) {
  std::vector<double> numbers;
  for (const auto& [name, tensor] : tensors)
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      numbers.push_back(static_cast<double>(tensor.data_ptr<float>()[i]));
  return numbers;
}

Update with_numbers(const Update& update, const std::vector<double>& numbers) {
  Update other = update;
  std::size_t place = 0;
  for (auto& [name, tensor] : other.tensors) {
    tensor = tensor.clone();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<float>()[i] = static_cast<float>(numbers[place++]);
  }
  return other;
}

// How much more of the typed words an attack found than words drawn at random would have been, in deviations
// of such draws, over all clients.
class Found {
 public:
  void add(const WordRecovery& recovery, const std::vector<Sentence>& texts) {
    std::set<Token> typed, found;
    for (const Sentence& text : texts) typed.insert(text.begin(), text.end());
    for (const auto& word : recovery.words) found.insert(word.id);
    for (const Token word : found) hits_ += typed.contains(word) ? 1 : 0;
    const double n = static_cast<double>(found.size()),
                 rate = static_cast<double>(typed.size()) / kVocabulary;
    expected_ += n * rate;
    variance_ += n * rate * (1 - rate);
  }
  double deviations() const { return (hits_ - expected_) / std::sqrt(std::max(variance_, 1.0)); }

 private:
  double hits_ = 0, expected_ = 0, variance_ = 0;
};

TEST(MaskedUpdate, TellsNoWord) {
  const std::shared_ptr<const LanguageModel> model =
      CifgLstm::random({.vocabulary = kVocabulary, .embedding = 8, .units = 12}, Seed(2));
  const std::string hash = hash_of(model->parameters());
  std::vector<Update> updates;
  for (std::int64_t client = 0; client < kClients; ++client)
    updates.push_back(train_locally(*model, texts_of(client), {.learning_rate = 0.1}, hash));
  const SecureSum sum = secure_sum(
      kClients,
      [&](std::int64_t client) {
        return to_fixed_point(numbers_of(updates[static_cast<std::size_t>(client)].tensors), kClients);
      },
      std::vector<bool>(kClients, false), {.keep_masked = true});
  const auto read = [&](WordRecovery (*attack)(const Observation&), std::int64_t clients) {
    Found plain, masked;
    for (std::int64_t client = 0; client < clients; ++client) {
      const auto place = static_cast<std::size_t>(client);
      plain.add(attack(observe(model, hash, updates[place])), texts_of(client));
      const Update hidden = with_numbers(updates[place], from_fixed_point(sum.masked[place]));
      masked.add(attack(observe(model, hash, hidden)), texts_of(client));
    }
    return std::pair(plain.deviations(), masked.deviations());
  };
  const auto [plain_signs, masked_signs] = read(recover_words_by_sign, kClients);
  EXPECT_GT(plain_signs, 15);
  EXPECT_LT(std::abs(masked_signs), 4);
  const auto [plain_best, masked_best] = read(recover_words, 1);
  EXPECT_GT(plain_best, 4);
  EXPECT_LT(std::abs(masked_best), 4);
}

}  // namespace
}  // namespace undertext
