// The results of an audit as one table for people at a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace undertext {

// colour: ANSI colours (leave it off in a pipe); width: columns of the terminal, 0 for as many as the table
// wants. A table that is too wide wraps its cells; where even that is too wide, each row becomes a block.
// UserError when the results are not whole (see report/results.h).
std::string terminal_table(const nlohmann::json& document, bool colour, int width);

}  // namespace undertext
