// The character LSTMs that federations start from where no folder is given: those of record-level, section
// V-A, with random weights. Their alphabet is the federation's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "models/char_lstm/config.h"
#include "models/language_model.h"
#include "text/tokenizer.h"

namespace undertext {

// "built-in:NAME"; nothing for other names:
//   char-lstm                        three layers of 128 units, for Penn Treebank
//   char-lstm-512, char-lstm-1024    of so many, for WikiText-2 and Enwik8
std::optional<CharLstmConfig> char_lstm_named(const std::string& place);

std::shared_ptr<const LanguageModel> new_char_lstm(CharLstmConfig config, const Tokenizer& alphabet,
                                                   Seed seed);

}  // namespace undertext
