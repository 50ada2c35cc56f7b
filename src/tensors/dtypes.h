// The element types that files may hold, by their names in the safetensors format.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

namespace undertext {

// F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL; nothing for any other name.
std::optional<at::ScalarType> dtype_of(std::string_view name);

// The name of a type; empty when no file of ours holds such a type (complex, quantised).
std::string_view name_of(at::ScalarType dtype);

}  // namespace undertext
