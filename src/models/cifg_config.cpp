#include "models/cifg_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

using nlohmann::json;

const json kGateOrder = {"forget", "cell", "output"};
constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // of any size: what fits an int in every product

std::int64_t integer(const json& config, const std::string& key, std::int64_t lowest, std::int64_t limit,
                     const std::filesystem::path& file) {
  const auto found = config.find(key);
  if (found == config.end()) fail("{}: \"{}\" is missing", file.string(), key);
  const bool whole = found->is_number_integer();
  // An unsigned number above the signed range compares wrongly as a signed one.
  const bool huge =
      found->is_number_unsigned() && found->get<std::uint64_t>() >= static_cast<std::uint64_t>(limit);
  const std::int64_t value = whole && !huge ? found->get<std::int64_t>() : -1;
  if (!whole || huge || value < lowest || value >= limit)
    fail("{}: \"{}\" is {}, expected a whole number from {} to {}", file.string(), key, found->dump(), lowest,
         limit - 1);
  return value;
}

}  // namespace

CifgConfig read_cifg_config(const std::filesystem::path& file) {
  const json config = json::parse(read_file(file), nullptr, false);
  if (config.is_discarded() || !config.is_object()) fail("{}: not a JSON object", file.string());
  const json type = config.value("model_type", json());
  if (type != "cifg-lstm")
    fail("{}: \"model_type\" is {}, expected \"cifg-lstm\"", file.string(), type.dump());
  CifgConfig result;
  result.vocabulary = integer(config, "vocab_size", 3, kLargest, file);
  result.embedding = integer(config, "embedding_size", 1, kLargest, file);
  result.units = integer(config, "hidden_size", 1, kLargest, file);
  const json gates = config.value("gate_order", kGateOrder);
  if (gates != kGateOrder)
    fail("{}: \"gate_order\" is {}, expected {}", file.string(), gates.dump(), kGateOrder.dump());
  const json tied = config.value("tie_word_embeddings", json(false));
  if (!tied.is_boolean())
    fail("{}: \"tie_word_embeddings\" is {}, expected true or false", file.string(), tied.dump());
  result.tied = tied.get<bool>();
  result.start = static_cast<Token>(integer(config, "bos_token_id", 0, result.vocabulary, file));
  result.unknown = static_cast<Token>(integer(config, "unk_token_id", 0, result.vocabulary, file));
  result.end = static_cast<Token>(integer(config, "pad_token_id", 0, result.vocabulary, file));
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
