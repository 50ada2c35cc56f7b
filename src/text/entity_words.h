// The lists that the rule-based recogniser of entities knows, in lower case.
#pragma once

#include <string_view>

namespace undertext {

bool is_month(std::string_view word);         // full names and usual abbreviations
bool is_weekday(std::string_view word);       // full names and usual abbreviations
bool is_common_too(std::string_view word);    // a listed word that in lower case mostly means something else
bool is_given_name(std::string_view word);    // frequent English, Spanish, German and Arabic ones
bool is_place(std::string_view phrase);       // countries, states of the USA, large cities; up to three words
bool is_organisation(std::string_view word);  // companies and agencies that business mail names often
bool is_company_ending(std::string_view word);  // inc, corp, ltd, ...
bool is_institution(std::string_view word);     // university, commission, bank, ...
bool is_title(std::string_view word);           // mr, mrs, dr, ...
bool is_number_word(std::string_view word);     // what may follow a number: million, percent, ...
// Words that begin a sentence with a capital letter without naming anything.
bool is_function_word(std::string_view word);

}  // namespace undertext
