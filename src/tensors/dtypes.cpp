#include "tensors/dtypes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace undertext {
namespace {

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 10> kTypes{{
    {"F64", at::kDouble},
    {"F32", at::kFloat},
    {"F16", at::kHalf},
    {"BF16", at::kBFloat16},
    {"I64", at::kLong},
    {"I32", at::kInt},
    {"I16", at::kShort},
    {"I8", at::kChar},
    {"U8", at::kByte},
    {"BOOL", at::kBool},
}};

}  // namespace

std::optional<at::ScalarType> dtype_of(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, [](const auto& type) { return type.first; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

std::string_view name_of(at::ScalarType dtype) {
  const auto* found = std::ranges::find(kTypes, dtype, [](const auto& type) { return type.second; });
  return found == kTypes.end() ? std::string_view() : found->first;
}

}  // namespace undertext
