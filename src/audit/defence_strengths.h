// What `audit --defences all` tries: every kind of defence at strengths from where it does nothing to where
// it stops what it can stop.
#pragma once

#include <string>
#include <vector>

namespace undertext {

// preset: "keyboard", "transformer", "records". Kinds that cannot be there are named once, so that the report
// says why.
const std::vector<std::string>& all_defences(const std::string& preset);

}  // namespace undertext
