// The built-in texts: short everyday messages, made up here, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/grammar.h"

namespace undertext {

struct Message {
  std::string text;
  std::string topic;  // "plans", "family", ...; "private" for a code, an address, a diagnosis
};

// One message of 1 to 12 words, a function of (seed, index) alone.
Message generate_message(Seed seed, std::int64_t index);

// Messages 0 to count - 1: plans, family, work, shopping, travel, health, money, with names, times, places
// and amounts, and now and then a rare private one. Repeats occur, as they do on real phones.
std::vector<std::string> generate_messages(Seed seed, std::int64_t count);

// The grammar that they come from; its rule "topic" draws a topic, and each topic is a rule.
const Grammar& message_grammar();

}  // namespace undertext
