// tokenizer.json, the one file in which Hugging Face keeps a tokenizer of any kind, and the older pair of
// files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace undertext {

// The tokenizer of a tokenizer.json's content: byte-level BPE as GPT-2's, or WordPiece as BERT's. Other
// models, normalisers and the like are refused by name. What cuts, pads or frames a sequence (truncation,
// padding, post_processor) is left out: encode adds nothing.
std::shared_ptr<const Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& source);

// Byte-level BPE of a vocab.json and a merges.txt; <|endoftext|> is an added token where the vocabulary has
// it.
std::shared_ptr<const Tokenizer> parse_byte_pairs(std::string_view vocabulary, std::string_view merges,
                                                  const std::string& vocabulary_source,
                                                  const std::string& merges_source);

}  // namespace undertext
