// Packed numbers of a federation's snapshots, with a base and without.
#include "base/error.h"
#include "fuzz/target.h"
#include "tensors/packed_floats.h"

namespace undertext {

void try_input(std::string_view bytes) {
  // The first byte says how many numbers the reader expects, and whether there is a base.
  const std::size_t first = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
  std::vector<float> values(first / 2 * 8), base(first % 2 == 0 ? 0 : values.size(), 0.5f);
  unpack_floats(bytes.substr(bytes.empty() ? 0 : 1), base, values, "input");
}

std::vector<std::string> seeds() {
  std::vector<float> values, base(248, 0.5f);
  for (int i = 0; i < 248; ++i) values.push_back(0.5f + 0.001f * static_cast<float>(i % 7));
  return {static_cast<char>(62) + pack_floats(values), static_cast<char>(63) + pack_floats(values, base),
          static_cast<char>(63) + pack_floats(base, base), std::string(33, '\0')};
}

}  // namespace undertext
