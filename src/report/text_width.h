// Texts as a terminal shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// Columns that the text takes: two for wide characters (CJK, emoji), none for combining marks.
int text_width(std::string_view text);

// The text without anything that could move the cursor, change colours or the reading direction, or that is
// not UTF-8: each such byte or character becomes U+FFFD.
std::string printable(std::string_view text);

// Lines of at most `width` columns, broken at spaces where possible; at least one line.
std::vector<std::string> wrap_text(std::string_view text, int width);

}  // namespace undertext
