// Float32 numbers in fewer bytes, restored to the last bit: weights of one model and the next in a row of
// snapshots have their exponents, and much of their leading bits, in common.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace undertext {

// The four bytes of each number apart, each plane through zlib where that saves something. With a base, of
// the same length, what is packed is the distance to it in steps from one float to the next; without, the
// numbers themselves, the exponent in a plane of its own.
std::string pack_floats(std::span<const float> values, std::span<const float> base = {});

// Into `values`, whose length is known. UserError that begins with `what` for anything that pack_floats did
// not write.
void unpack_floats(std::string_view packed, std::span<const float> base, std::span<float> values,
                   const std::string& what);

}  // namespace undertext
