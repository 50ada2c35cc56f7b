#include "text/load_tokenizer.h"

#include "text/vocabulary.h"

namespace undertext {

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  return std::make_shared<const Vocabulary>(Vocabulary::load(folder / "vocab.txt"));
}

}  // namespace undertext
