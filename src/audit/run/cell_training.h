// A cell's model as it is when it is attacked: after a training on the clients' own messages (film, section
// 6.1: one server, one client, whose every step is a gradient that is sent).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "audit/experiment/sources.h"

namespace undertext {

// config: a frozen cell's; start: the model that it names. The same folder where it is not trained first.
// What clients train (federation.train) and their defence hold in every step of the training, unless it says
// otherwise; noise on results, which are not steps, does not go with it: UserError.
std::shared_ptr<const ModelFolder> trained_model(const nlohmann::json& config,
                                                 std::shared_ptr<const ModelFolder> start, Sources& sources);

// Of the training and the attacked step under dpsgd, at a delta of 1e-5, as if no patience ended it early;
// nothing for other defences and for
// models that are not trained.
std::optional<double> epsilon_of_cell(const nlohmann::json& config);

}  // namespace undertext
