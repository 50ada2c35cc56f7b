// What the page shows of the defences: for each threat model the verdict, the points of the frontier and the
// table; what could not be run; what is promised.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/results.h"

namespace undertext {

nlohmann::json defence_section(const Results& results);

}  // namespace undertext
