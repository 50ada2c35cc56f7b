// Texts given to a verb: as text for the model's tokenizer, or as token ids.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// What the two flags are called and what the texts are for.
struct TextFlags {
  std::string texts = {}, ids = {}, purpose = {};  // "--texts", "--ids", "the client's messages"
  bool required = false;
};

class TextInputs {
 public:
  void add_flags(CLI::App& app, TextFlags flags);

  bool given() const { return !texts_.empty() || !ids_.empty(); }
  // Empty when not given. UserError that names the file, or the flags where one of them is required.
  std::vector<Sentence> read(const Tokenizer& tokenizer) const;

 private:
  TextFlags flags_;
  std::filesystem::path texts_, ids_;
};

}  // namespace undertext
