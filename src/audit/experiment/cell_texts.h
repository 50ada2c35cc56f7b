// Which messages a cell's client holds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/experiment/sources.h"
#include "text/tokenizer.h"

namespace undertext {

// The messages that the `words` of an experiment leaves: those of at least so many words, cut to them (0: all
// as they are).
std::vector<std::string> cut_messages(const std::vector<std::string>& messages, std::int64_t words);

// The lines of a text that stands in the experiment file itself, blank ones left out.
std::vector<std::string> lines_of_text(const std::string& text);

struct CellTexts {
  std::vector<Sentence> client;    // of all its users, one after the other
  std::vector<Sentence> held_out;  // empty: no utility is measured
};

// config: a frozen cell's. UserError where a line holds no word.
CellTexts texts_of(const nlohmann::json& config, const Tokenizer& tokenizer, Sources& sources);

// The public texts of a malicious server; none where it measures on random tokens.
std::vector<Sentence> server_texts_of(const nlohmann::json& config, const Tokenizer& tokenizer,
                                      Sources& sources);

}  // namespace undertext
