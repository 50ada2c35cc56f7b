#include "text/unicode_traits.h"

#include <unicode/uchar.h>

#include <algorithm>

namespace undertext {
namespace {

std::uint8_t trait_of(UCharCategory category) {
  const std::uint32_t mask = U_MASK(category);
  if (mask & U_GC_L_MASK) return UnicodeTraits::kLetter;
  if (mask & U_GC_N_MASK) return UnicodeTraits::kNumber;
  if (mask & U_GC_P_MASK) return UnicodeTraits::kPunctuation;
  if (mask & U_GC_MN_MASK) return UnicodeTraits::kAccent;
  if (mask & U_GC_C_MASK) return UnicodeTraits::kControl;
  return 0;
}

}  // namespace

UnicodeTraits::UnicodeTraits() : traits_(std::make_unique<std::array<std::uint8_t, kCodePoints>>()) {
  const auto fill = [](const void* traits, UChar32 start, UChar32 limit, UCharCategory category) -> UBool {
    auto* table = static_cast<std::uint8_t*>(const_cast<void*>(traits));
    std::fill(table + start, table + limit, trait_of(category));
    return true;
  };
  u_enumCharTypes(fill, traits_->data());
  for (UChar32 c = 0; c <= 0x3000; ++c) {  // the last white space there is
    if (u_hasBinaryProperty(c, UCHAR_WHITE_SPACE)) (*traits_)[static_cast<std::size_t>(c)] |= kWhiteSpace;
  }
}

const UnicodeTraits& UnicodeTraits::get() {
  static const UnicodeTraits traits;
  return traits;
}

}  // namespace undertext
