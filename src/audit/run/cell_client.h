// A cell's client: what it trains, what it does about leaks, what it sends.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "federated/update.h"
#include "models/language_model.h"

namespace undertext {

// config: a frozen cell's. texts: of all the client's users, one after the other, as many of each.
Update client_update(const nlohmann::json& config, const LanguageModel& model, const std::string& hash,
                     const Tokenizer& tokenizer, std::span<const Sentence> texts);

}  // namespace undertext
