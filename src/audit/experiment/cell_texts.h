// Which messages a cell's client holds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/experiment/sources.h"
#include "text/tokenizer.h"

namespace undertext {

// Those of at least so many words, cut to them (0: all as they are).
std::vector<std::string> cut_messages(const std::vector<std::string>& messages, std::int64_t words);

// The messages that the section `texts` of an experiment leaves of the lines: split, filtered, cut.
std::vector<std::string> chosen_messages(const std::vector<std::string>& lines, const nlohmann::json& texts);

// The lines of a text that stands in the experiment file itself, blank ones left out.
std::vector<std::string> lines_of_text(const std::string& text);

struct CellTexts {
  std::vector<Sentence> client;    // of all its users, one after the other
  std::vector<Sentence> held_out;  // empty: no utility is measured
};

// config: a frozen cell's. UserError where a line holds no word.
CellTexts texts_of(const nlohmann::json& config, const Tokenizer& tokenizer, Sources& sources);

// What a cell's model is trained on before it is attacked, and what says when to stop; both empty where it is
// not trained.
struct TrainingTexts {
  std::vector<Sentence> trained, validation;
};
TrainingTexts training_texts_of(const nlohmann::json& config, const Tokenizer& tokenizer, Sources& sources);
// Whether a cell's model is trained on the clients' own messages first.
bool trains_first(const nlohmann::json& config);
// Messages of a file that the training keeps for itself to stop by.
std::int64_t validation_size(const nlohmann::json& training);

// The public texts of a malicious server; none where it measures on random tokens.
std::vector<Sentence> server_texts_of(const nlohmann::json& config, const Tokenizer& tokenizer,
                                      Sources& sources);

}  // namespace undertext
