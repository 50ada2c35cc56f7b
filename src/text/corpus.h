// Texts on disk: one sentence per line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// Non-blank lines of a UTF-8 file, without surrounding white space (so that CR LF files read the same).
// UserError when the file is empty, unreadable, not UTF-8, or has a line of more than 1 MB.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// read_lines, encoded; a line without a single word, or with more than 10,000, is an error that names the
// line.
std::vector<Sentence> read_sentences(const std::filesystem::path& file, const Tokenizer& tokenizer);

}  // namespace undertext
