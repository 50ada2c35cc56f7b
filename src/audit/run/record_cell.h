// Cells that read records from whole federations.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "audit/experiment/sources.h"
#include "audit/federation/kept_federation.h"

namespace undertext {

// Whether a frozen cell is one.
bool attacks_federation(const nlohmann::json& config);

// Keeps the last federation, for cells that attack the same one.
class RecordCells {
 public:
  explicit RecordCells(Sources& sources) : sources_(sources) {}

  // metrics and sample, as every cell gives them.
  nlohmann::json result_of(const nlohmann::json& config);

 private:
  Sources& sources_;
  std::string key_;
  std::unique_ptr<const KeptFederation> last_;
};

}  // namespace undertext
