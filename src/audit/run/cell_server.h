// What a cell's server sends out: the model as it is, or a state that it corrupted.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "attacks/decepticons/key.h"
#include "audit/experiment/sources.h"

namespace undertext {

struct ServerState {
  std::shared_ptr<const LanguageModel> model;
  std::string hash;
  std::optional<DecepticonKey> key;  // of a corrupted state
};

// Keeps the last corrupted state, for cells that train on the same one.
class CellServer {
 public:
  explicit CellServer(Sources& sources) : sources_(sources) {}

  // config: a frozen cell's; folder: its model. UserError where the model cannot be corrupted.
  ServerState state_of(const nlohmann::json& config, const ModelFolder& folder);

 private:
  Sources& sources_;
  std::string last_key_;
  ServerState last_;
};

}  // namespace undertext
