// Which attacks use what the protocol says of a defence: what "adaptive" means in reports.
#pragma once

#include <optional>
#include <string>

#include "defences/defence_plan.h"
#include "federated/update.h"

namespace undertext {

// What this attack knows of the defences in `plan` and uses, in words; nothing where it goes on as if there
// were none, or where there is none. protocol: of the update that it is given.
std::optional<std::string> told_of(const std::string& attack, const std::string& method,
                                   const DefencePlan& plan, const Protocol& protocol);

}  // namespace undertext
