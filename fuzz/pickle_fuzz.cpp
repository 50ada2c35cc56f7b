// The pickle interpreter alone, and what becomes of its tensors in an archive with one storage. Without the
// archive's offsets and checks around it the fuzzer gets much further.
#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "fuzz/torch_pickles.h"
#include "tensors/pickle.h"
#include "tensors/read_tensors.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const Pickle pickle(input(bytes).view(), "input");
  touch(read_tensors(input(pickled::archive(std::string(bytes), {std::string(24, '\1')})), "input"));
}

std::vector<std::string> seeds() {
  return pickled::torch_pickles();
}

}  // namespace undertext
