// The version of the program, as CMakeLists.txt states it, and of what it computes with.
#pragma once

#include <string>

namespace undertext {

inline constexpr const char* kVersion = "0.8.0";

// "0.8.0 (torch 1.13.1, OpenBLAS 0.3.21 Haswell)": with the kind of processor that the BLAS found.
std::string all_versions();

}  // namespace undertext
