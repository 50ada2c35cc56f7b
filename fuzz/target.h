// What every NAME_fuzz.cpp defines; target.cpp makes a libFuzzer program of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// Lets a reader loose on bytes. A UserError is a good answer; anything else that ends the program is a
// finding.
void try_input(std::string_view bytes);

// Inputs to begin with, made by code: good ones of every kind, so that what is behind the first checks is
// reached.
std::vector<std::string> seeds();

}  // namespace undertext
