// The defences of a cell.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "defences/defence_plan.h"

namespace undertext {

// defence: that section of a cell, its own defence and those that it names beside it. UserError where one of
// these is none, or where they do not go together.
DefencePlan plan_of(const nlohmann::json& defence);

}  // namespace undertext
