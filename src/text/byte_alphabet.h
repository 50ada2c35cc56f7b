// How the files of byte-level tokenizers write bytes: each as one visible character.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

// Printable bytes of Latin-1 stand for themselves, the other 68 are U+0100 and on in their order (a space is
// U+0120). UTF-8, one string for each byte.
const std::array<std::string, 256>& byte_alphabet();

// The bytes that a token's characters stand for; nothing when one of them stands for none.
std::optional<std::string> bytes_of_written(std::string_view written);

}  // namespace undertext
