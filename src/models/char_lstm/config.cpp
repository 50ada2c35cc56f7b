#include "models/char_lstm/config.h"

#include "base/files.h"

namespace undertext {
namespace {

using nlohmann::json;

// So that a config cannot ask for more than any machine has. What a character adds to the first layer's gates
// is computed once for each of them: there must not be as many as there are words.
constexpr std::int64_t kCharacters = 1 << 16, kWidest = 1 << 14, kDeepest = 64;

const json kGateOrder = {"input", "forget", "cell", "output"};

void refuse_unless(const ConfigFields& fields, const std::string& key, const json& wanted) {
  if (fields.value(key, wanted) != wanted) fields.refuse(key, wanted.dump());
}

}  // namespace

CharLstmConfig read_char_lstm_config(const ConfigFields& fields) {
  if (fields.value("model_type", json()) != "char-lstm") fields.refuse("model_type", "\"char-lstm\"");
  CharLstmConfig config;
  config.vocabulary = fields.whole("vocab_size", 1, kCharacters + 1);
  config.embedding = fields.whole("embedding_size", 1, kWidest + 1, config.embedding);
  config.units = fields.whole("hidden_size", 1, kWidest + 1, config.units);
  config.layers = fields.whole("num_hidden_layers", 1, kDeepest + 1, config.layers);
  config.dropout = fields.number("dropout", 0, 0.999, config.dropout);
  // What torch.nn.LSTM has besides, and this model has not.
  refuse_unless(fields, "gate_order", kGateOrder);
  refuse_unless(fields, "bidirectional", false);
  refuse_unless(fields, "proj_size", 0);
  refuse_unless(fields, "bias", true);
  refuse_unless(fields, "tie_word_embeddings", false);
  return config;
}

void write_char_lstm_config(const std::filesystem::path& file, const CharLstmConfig& config) {
  nlohmann::ordered_json out;
  out["model_type"] = "char-lstm";
  out["vocab_size"] = config.vocabulary;
  out["embedding_size"] = config.embedding;
  out["hidden_size"] = config.units;
  out["num_hidden_layers"] = config.layers;
  out["dropout"] = config.dropout;
  out["gate_order"] = kGateOrder;
  out["tie_word_embeddings"] = false;
  write_file(file, out.dump(2) + "\n");
}

}  // namespace undertext
