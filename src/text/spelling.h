// Messages letter by letter, for a keyboard that predicts letters: every letter is a word of its own, and so
// is the blank between words.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// "ok sir" as "o k ␣ s i r": the words as a keyboard sees them.
std::string spelled(std::string_view message);
// The other way round.
std::string unspelled(std::string_view letters);

}  // namespace undertext
