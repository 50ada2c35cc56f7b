// Whose texts an update is of: one user's, or those of several whose gradients are averaged.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

#include "cli/text_filter_flags.h"
#include "cli/text_inputs.h"
#include "models/language_model.h"
#include "text/tokenizer.h"

namespace undertext {

class ClientUsers {
 public:
  void add_flags(CLI::App& app);

  // Each user's sentences, or sequences where --length is given. UserError that names the file when it does
  // not have as many as are asked for. model: whose perplexity may choose.
  std::vector<std::vector<Sentence>> read(const Tokenizer& tokenizer, const LanguageModel& model) const;

  std::int64_t length() const { return length_; }  // 0: sentences as they are

 private:
  TextInputs texts_;
  TextFilterFlags filter_;
  bool append_end_ = false;
  std::int64_t length_ = 0, sequences_ = 0, users_ = 1;  // sequences_ 0: all
};

}  // namespace undertext
