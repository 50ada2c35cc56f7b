// Texts on disk: one sentence per line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace undertext {

// Non-blank lines of a UTF-8 file. UserError when the file is empty, unreadable or not UTF-8.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// read_lines, encoded; a line without a single word is an error that names the line.
std::vector<Sentence> read_sentences(const std::filesystem::path& file, const Vocabulary& vocabulary);

}  // namespace undertext
