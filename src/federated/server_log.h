// What a federation's server writes down for itself: whom it asked, who answered, at which rate, and the loss
// on its validation text. It needs this to go on after an interruption.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "federated/federation.h"

namespace undertext {

struct ServerLog {
  std::string recipe;  // names the federation: another one's log is not taken
  double first_loss = 0;
  std::vector<RoundOutcome> rounds;
};

void write_server_log(const ServerLog& log, const std::filesystem::path& file);
// Nothing where there is no file; UserError when it is damaged or of another recipe.
std::optional<ServerLog> read_server_log(const std::filesystem::path& file, const std::string& recipe);

}  // namespace undertext
