#include "audit/run/cell_server.h"

#include <nlohmann/json.hpp>

#include "attacks/decepticons/corrupt.h"
#include "audit/experiment/cell_texts.h"
#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;

// What the corrupted state depends on.
std::string key_of(const json& config) {
  return json{config.at("model").at("hash"),   config.at("training"),
              config.at("server").at("state"), config.at("server").at("disguise"),
              config.at("server").at("hash"),  config.at("texts").at("length"),
              config.at("run").at("seed")}
      .dump();
}

}  // namespace

ServerState CellServer::state_of(const json& config, const ModelFolder& folder) {
  const json& server = config.at("server");
  if (server.at("state") == "honest") return {folder.model, folder.hash, std::nullopt};
  std::string key = key_of(config);
  if (key == last_key_) return last_;
  last_key_.clear();
  last_ = {};  // before the next is made: never two at once
  const auto* model = dynamic_cast<const Transformer*>(folder.model.get());
  if (model == nullptr) fail("a {}: expected a transformer for a malicious server", folder.model->kind());
  const std::vector<Sentence> texts = server_texts_of(config, *folder.tokenizer, sources_);
  CorruptOptions options;
  options.design = server.at("state") == "paper" ? DecepticonDesign::paper : DecepticonDesign::best;
  options.public_texts = texts;
  if (config.at("texts").at("length") > 0) options.length = config.at("texts").at("length");
  options.disguise = server.at("disguise");
  options.seed = config.at("run").at("seed");
  CorruptedState state = corrupt(*model, options);
  last_ = {state.model, state.key.state_hash, state.key};
  last_key_ = std::move(key);
  return last_;
}

}  // namespace undertext
