// The version of the program, as CMakeLists.txt states it.
#pragma once

namespace undertext {

inline constexpr const char* kVersion = "0.2.0";

}  // namespace undertext
