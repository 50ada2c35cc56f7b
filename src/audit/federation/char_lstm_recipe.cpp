#include "audit/federation/char_lstm_recipe.h"

#include "models/char_lstm/char_lstm.h"

namespace undertext {

std::optional<CharLstmConfig> char_lstm_named(const std::string& place) {
  if (place == "built-in:char-lstm") return CharLstmConfig{};
  if (place == "built-in:char-lstm-512") return CharLstmConfig{.units = 512};
  if (place == "built-in:char-lstm-1024") return CharLstmConfig{.units = 1024};
  return std::nullopt;
}

std::shared_ptr<const LanguageModel> new_char_lstm(CharLstmConfig config, const Tokenizer& alphabet,
                                                   Seed seed) {
  config.vocabulary = alphabet.size();
  return CharLstm::random(config, seed);
}

}  // namespace undertext
