// The key of a corrupted state.
#include "attacks/decepticons/key.h"
#include "base/error.h"
#include "fuzz/target.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const DecepticonKey key = parse_key(bytes, "input");
  UNDERTEXT_CHECK(key.code > 0 && key.positions >= 0 && key.window >= 0);
  UNDERTEXT_CHECK(key.scale > 0 && key.disguise >= 0 && key.state_hash.size() == 64);
}

std::vector<std::string> seeds() {
  const std::string hash(64, 'a');
  const std::string rest =
      R"(,"code":6,"positions":32,"window":4,"scale":1e6,"disguise":0.001,"seed":7,"state_hash":")" + hash +
      "\"}";
  return {R"({"format":"undertext-decepticon-key-1","design":"paper")" + rest,
          R"({"format":"undertext-decepticon-key-1","design":"best")" + rest, "{}", "[1]"};
}

}  // namespace undertext
