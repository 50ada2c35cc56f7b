// How much memory the process has used.
#pragma once

#include <cstdint>

namespace undertext {

// The largest resident size since the process began or since the last reset, in bytes; 0 where the system
// does not tell.
std::int64_t peak_memory();
// From here on peak_memory() speaks of what comes after. Without effect where the system does not allow it.
void reset_peak_memory();

}  // namespace undertext
