// Any folder with tokenizer files, whatever their kind.
#pragma once

#include <filesystem>
#include <memory>

#include "text/tokenizer.h"

namespace undertext {

// The tokenizer that the folder's files describe; UserError when there is none or it is not understood.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace undertext
