// The built-in texts: short everyday messages, made up here, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace undertext {

// `count` messages (1 to 12 words): plans, family, work, shopping, travel, health, money, with names, times,
// places and amounts, and now and then a rare private one (a code, an address, a diagnosis). Message i is a
// function of (seed, i) alone. Repeats occur, as they do on real phones.
std::vector<std::string> generate_messages(Seed seed, std::int64_t count);

}  // namespace undertext
