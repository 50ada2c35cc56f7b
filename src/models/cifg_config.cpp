#include "models/cifg_config.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "models/config_fields.h"

namespace undertext {
namespace {

using nlohmann::json;

const json kGateOrder = {"forget", "cell", "output"};

}  // namespace

CifgConfig read_cifg_config(const std::filesystem::path& file) {
  const ConfigFields config(file);
  if (config.value("model_type", json()) != "cifg-lstm") config.refuse("model_type", "\"cifg-lstm\"");
  CifgConfig result;
  result.vocabulary = config.whole("vocab_size", 3, ConfigFields::kLargest);
  result.embedding = config.size("embedding_size");
  result.units = config.size("hidden_size");
  if (config.value("gate_order", kGateOrder) != kGateOrder) config.refuse("gate_order", kGateOrder.dump());
  result.tied = config.truth("tie_word_embeddings", false);
  result.start = static_cast<Token>(config.whole("bos_token_id", 0, result.vocabulary));
  result.unknown = static_cast<Token>(config.whole("unk_token_id", 0, result.vocabulary));
  result.end = static_cast<Token>(config.whole("pad_token_id", 0, result.vocabulary));
  return result;
}

void write_cifg_config(const std::filesystem::path& file, const CifgConfig& config) {
  nlohmann::ordered_json out;
  out["model_type"] = "cifg-lstm";
  out["vocab_size"] = config.vocabulary;
  out["embedding_size"] = config.embedding;
  out["hidden_size"] = config.units;
  out["gate_order"] = kGateOrder;
  out["tie_word_embeddings"] = config.tied;
  out["bos_token_id"] = config.start;
  out["unk_token_id"] = config.unknown;
  out["pad_token_id"] = config.end;
  write_file(file, out.dump(2) + "\n");
}

}  // namespace undertext
