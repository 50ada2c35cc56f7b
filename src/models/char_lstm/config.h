// config.json of a character LSTM.
#pragma once

#include <cstdint>
#include <filesystem>

#include "models/config_fields.h"

namespace undertext {

// The defaults are the paper's model for Penn Treebank (record-level, section V-A).
struct CharLstmConfig {
  std::int64_t vocabulary = 0;   // V
  std::int64_t embedding = 128;  // E
  std::int64_t units = 128;      // U, of each layer
  std::int64_t layers = 3;       // L
  double dropout = 0.1;          // on the output of every layer, the last one too

  // What layer l reads: E numbers for the first, U for the others.
  std::int64_t inputs(std::int64_t layer) const { return layer == 0 ? embedding : units; }
};

CharLstmConfig read_char_lstm_config(const ConfigFields& fields);  // UserError for whatever is missing or odd
void write_char_lstm_config(const std::filesystem::path& file, const CharLstmConfig& config);

}  // namespace undertext
