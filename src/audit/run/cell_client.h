// A cell's client: what it trains, what it does about leaks, what it sends.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "federated/defence.h"
#include "federated/update.h"
#include "models/language_model.h"

namespace undertext {

// config: a frozen cell's. texts: of all the client's users, one after the other, as many of each.
Update client_update(const nlohmann::json& config, const LanguageModel& model, const std::string& hash,
                     std::span<const Sentence> texts);

// defence: that section of a frozen cell.
std::vector<std::shared_ptr<const ClientDefence>> cell_defences(const nlohmann::json& defence, Seed seed);

// The deviation of the noise in each number of one step's gradient over so many texts, which an adversary
// knows who knows the defence; 0: none.
double noise_in_gradient(const nlohmann::json& config, std::size_t texts);

}  // namespace undertext
