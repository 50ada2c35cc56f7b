// What turns a text into the numbers that a model reads, and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

using Token = std::int32_t;
using Sentence = std::vector<Token>;  // without the token that marks the start, where a model has one

// Tokens that mean something of their own; nothing where a tokenizer has no such token.
struct SpecialTokens {
  std::optional<Token> start, end, unknown, mask, padding;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::int64_t size() const = 0;  // ids are 0 to size() - 1
  virtual SpecialTokens special() const = 0;

  // Any bytes are a text. Adds no special token.
  virtual Sentence encode(std::string_view text) const = 0;
  // The text of the tokens as people read it; always well-formed UTF-8. Ids out of range are a bug.
  virtual std::string decode(std::span<const Token> tokens) const = 0;
  // One token as a list of tokens shows it: as the tokenizer's own files write it.
  virtual std::string token(Token id) const = 0;

  // Writes the files from which load_tokenizer() makes it again into an existing folder.
  virtual void save(const std::filesystem::path& folder) const = 0;
};

}  // namespace undertext
