// The records of zip archives, as far as reader and writer share them.
#pragma once

#include <cstdint>

namespace undertext::zip {

inline constexpr std::uint32_t kLocalHeader = 0x04034b50;
inline constexpr std::uint32_t kDirectoryHeader = 0x02014b50;
inline constexpr std::uint32_t kEnd = 0x06054b50;
inline constexpr std::uint32_t kEnd64 = 0x06064b50;
inline constexpr std::uint32_t kEnd64Locator = 0x07064b50;

// Lengths without names, extra fields and comments.
inline constexpr std::uint64_t kLocalHeaderSize = 30;
inline constexpr std::uint64_t kDirectoryHeaderSize = 46;
inline constexpr std::uint64_t kEndSize = 22;
inline constexpr std::uint64_t kEnd64Size = 56;
inline constexpr std::uint64_t kEnd64LocatorSize = 20;

// "See the zip64 record" in a field of 16 or 32 bits.
inline constexpr std::uint16_t kSee16 = 0xFFFF;
inline constexpr std::uint32_t kSee32 = 0xFFFFFFFF;
inline constexpr std::uint16_t kZip64Extra = 1;  // the extra field with the wide numbers

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

}  // namespace undertext::zip
