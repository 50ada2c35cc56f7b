// The keys of experiment files that belong to whole federations.
#pragma once

#include <vector>

#include "audit/experiment/schema.h"

namespace undertext {

std::vector<Field> federation_round_fields();  // of [federation]
std::vector<Field> text_share_fields();        // of [texts]
std::vector<Field> record_fields();            // of [records]

}  // namespace undertext
