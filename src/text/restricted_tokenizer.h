// A tokenizer cut down to what public texts need, so that a model of it stays small.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

struct RestrictedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<Token> kept;  // by new id: the old one; ascending
};

// Keeps the tokens of the texts, the special ones and what spells everything else: for byte-level BPE the 256
// bytes, for WordPiece the single characters of the pieces kept. A text whose tokens are all kept is cut as
// before; a piece that is not kept is cut into kept ones. UserError for tokenizers of other kinds.
RestrictedTokenizer restrict_to(const Tokenizer& tokenizer, std::span<const std::string> texts);

}  // namespace undertext
