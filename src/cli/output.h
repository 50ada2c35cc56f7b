// What goes to stdout, which holds the result and nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace undertext {

// UserError when stdout does not take it (a full disk).
void print_text(std::string_view text);
void print_json(const nlohmann::json& json);  // one object on one line

// Whether stdout is a terminal that wants colour (NO_COLOR unset), and its columns; 0 when it is none.
bool colour_wanted();
int output_width();

// A remark beside the result, on stderr.
void print_note(std::string_view text);

// "1 word", "12 words".
std::string counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace undertext
