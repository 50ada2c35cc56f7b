// Lists of token ids, one a line.
#include "base/error.h"
#include "fuzz/target.h"
#include "text/corpus.h"

namespace undertext {

void try_input(std::string_view bytes) {
  constexpr Token kTokens = 1000;
  for (const Sentence& sentence : parse_ids(bytes, kTokens, "input")) {
    UNDERTEXT_CHECK(!sentence.empty());
    for (const Token id : sentence) UNDERTEXT_CHECK(id >= 0 && id < kTokens);
  }
}

std::vector<std::string> seeds() {
  return {"[1, 2, 3]\n[999]\n", "\xEF\xBB\xBF[0]\r\n\r\n[5]", "[1000]", "[-1]\n[1.0]", "[[1]]"};
}

}  // namespace undertext
