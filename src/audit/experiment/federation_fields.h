// The keys of experiment files that belong to whole federations.
#pragma once

#include <vector>

#include "audit/experiment/schema.h"

namespace undertext {

std::vector<Field> federation_round_fields();  // of [federation]
std::vector<Field> text_share_fields();        // of [texts]
std::vector<Field> record_fields();            // of [records]
std::vector<Field> record_attack_fields();     // of [[attack]], of the kind records

}  // namespace undertext
