// Any folder with tokenizer files, whatever their kind.
#pragma once

#include <filesystem>
#include <memory>

#include "text/tokenizer.h"

namespace undertext {

// The tokenizer of the first of these that the folder holds; UserError when there is none or it is not
// understood:
//   tokenizer.json              Hugging Face's own form: byte-level BPE or WordPiece
//   vocab.json and merges.txt   byte-level BPE
//   characters.json             characters
//   vocab.txt                   words where it holds <S> and </S>, WordPiece where it holds [UNK]
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// Whether the folder holds any of these, whole or not.
bool has_tokenizer(const std::filesystem::path& folder);

}  // namespace undertext
