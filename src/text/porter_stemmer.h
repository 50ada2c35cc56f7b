// The stem of an English word, by which ROUGE may compare words.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", 1980) with the two rules that its
// author changed later (bli -> ble in place of abli -> able; logi -> log). Takes a word in lower case. A word
// of one or two letters, or with anything but a to z in it, is its own stem.
std::string porter_stem(std::string_view word);

}  // namespace undertext
