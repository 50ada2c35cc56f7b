// vocab.json and merges.txt, with a NUL byte between the two. What the vocabulary lacks of the 256 bytes is
// added, or hardly an input would come past that check.
#include <algorithm>

#include "base/error.h"
#include "fuzz/target.h"
#include "tests/text/tiny_tokenizers.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const std::size_t middle = std::min(bytes.find('\0'), bytes.size());
  std::string vocabulary(bytes.substr(0, middle));
  nlohmann::json more = nlohmann::json::parse(vocabulary, nullptr, false);
  if (more.is_object() && more.size() < 100) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      if (!more.contains(byte_alphabet()[byte])) more[byte_alphabet()[byte]] = more.size();
    vocabulary = more.dump();
  }
  const auto tokenizer =
      parse_byte_pairs(vocabulary, bytes.substr(std::min(middle + 1, bytes.size())), "vocabulary", "merges");
  UNDERTEXT_CHECK(tokenizer->decode(tokenizer->encode("hello world")) == "hello world");
}

std::vector<std::string> seeds() {
  const std::string end(1, '\0');
  return {tiny_vocabulary(kHello).dump() + end + merges_file(kHello),
          R"({"he": 0, "ll": 1, "hell": 2})" + end + "h e\nl l\nhe ll\n",
          R"({"<|endoftext|>": 0, "oo": 1})" + end + "#version: 0.2\r\no o\r\n"};
}

}  // namespace undertext
