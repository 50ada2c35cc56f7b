#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "fuzz/torch_pickles.h"
#include "tensors/read_tensors.h"

namespace undertext {

void try_input(std::string_view bytes) {
  touch(read_tensors(input(bytes), "input"));
}

std::vector<std::string> seeds() {
  std::vector<std::string> archives;
  for (const std::string& pickle : pickled::torch_pickles()) {
    archives.push_back(pickled::archive(pickle, {std::string(24, 'x')}));
  }
  archives.push_back(
      zip_bytes({{.name = "m/data.pkl", .content = pickled::torch_pickles().front(), .deflate = true},
                 {.name = "m/byteorder", .content = "little"},
                 {.name = "m/data/0", .content = std::string(24, 'x'), .deflate = true}}));
  return archives;
}

}  // namespace undertext
