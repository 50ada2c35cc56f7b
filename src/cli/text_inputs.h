// Texts given to a verb: as text for the model's tokenizer, or as token ids.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "text/text_filter.h"
#include "text/tokenizer.h"

namespace undertext {

// What the two flags are called and what the texts are for.
struct TextFlags {
  std::string texts = {}, ids = {}, purpose = {};  // "--texts", "--ids", "the client's messages"
  bool required = false;
  bool several = false;  // takes more than one file
};

class TextInputs {
 public:
  void add_flags(CLI::App& app, TextFlags flags);

  bool given() const { return !texts_.empty() || !ids_.empty(); }
  const std::vector<std::filesystem::path>& files() const { return texts_.empty() ? ids_ : texts_; }
  // Empty when not given. UserError that names the file, or the flags where one of them is required, and
  // where the filter leaves no text of a file. Of all files, and file by file:
  std::vector<Sentence> read(const Tokenizer& tokenizer, const TextFilter& filter = {}) const;
  std::vector<std::vector<Sentence>> read_each(const Tokenizer& tokenizer,
                                               const TextFilter& filter = {}) const;

 private:
  TextFlags flags_;
  std::vector<std::filesystem::path> texts_, ids_;
};

// Ends each text with the tokenizer's end token; UserError where it has none.
void append_end(std::vector<Sentence>& texts, const Tokenizer& tokenizer);

}  // namespace undertext
