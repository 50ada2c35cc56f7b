// Safetensors files made by hand, byte by byte, so that they can say anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace undertext {

// The length field, little-endian.
inline std::string length_field(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  return bytes;
}

inline std::string file_bytes(std::string_view header, std::string_view data = {}) {
  return length_field(header.size()) + std::string(header) + std::string(data);
}

}  // namespace undertext
