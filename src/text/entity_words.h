// The lists that the rule-based recogniser of entities knows, in lower case.
#pragma once

#include <cstddef>
#include <string_view>

namespace undertext {

enum class WordKind {
  month,           // full names and usual abbreviations
  weekday,         // full names and usual abbreviations
  common_too,      // a listed word that in lower case mostly means something else
  given_name,      // frequent English, Spanish, German and Arabic ones
  place,           // countries, states of the USA, large cities; up to three words
  organisation,    // companies and agencies that business mail names often
  company_ending,  // inc, corp, ltd, ...
  institution,     // university, commission, bank, ...
  title,           // mr, mrs, dr, ...
  number_word,     // what may follow a number: million, percent, ...
  function_word,   // what begins a sentence with a capital letter without naming anything
};
inline constexpr std::size_t kWordKinds = 11;

// word: or a phrase, words one space apart.
bool is_a(WordKind kind, std::string_view word);

}  // namespace undertext
