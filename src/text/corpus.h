// Texts on disk: one sentence per line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text/entities.h"
#include "text/text_filter.h"
#include "text/tokenizer.h"

namespace undertext {

// Non-blank lines of a UTF-8 file, without surrounding white space (so that CR LF files read the same).
// UserError when the file is empty, unreadable, not UTF-8, or has a line of more than 1 MB.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// read_lines, encoded; a line without a single word, or with more than 10,000, is an error that names the
// line. Lines that the filter does not keep are passed over; where it keeps none, an error says so.
std::vector<Sentence> read_sentences(const std::filesystem::path& file, const Tokenizer& tokenizer,
                                     const TextFilter& filter = {});

// Token ids as text: one JSON list a line, blank lines skipped, 10,000 ids at most in each and at least one.
// UserError that names the line for anything else, among it ids that are not below vocabulary_size.
std::vector<Sentence> read_ids(const std::filesystem::path& file, std::int64_t vocabulary_size);
std::vector<Sentence> parse_ids(std::string_view content, std::int64_t vocabulary_size,
                                const std::string& source);

// Named entities, one a line, blank lines skipped. UserError as for read_lines, and for a line without a
// word.
EntityFinder read_entities(const std::filesystem::path& file);

}  // namespace undertext
