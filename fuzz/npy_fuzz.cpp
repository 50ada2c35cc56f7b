#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "tensors/npy.h"
#include "tensors/zip_bytes.h"

namespace undertext {

void try_input(std::string_view bytes) {
  touch(read_npy(input(bytes), "input"));
}

std::vector<std::string> seeds() {
  return {
      npy_bytes(npy_dict("<f4", "(2, 3)"), std::string(24, 'x')),
      npy_bytes(npy_dict(">f8", "(2, 1)", true), std::string(16, 'x'), 2),
      npy_bytes(npy_dict("|b1", "(3,)"), std::string(3, '\1'), 3),
      npy_bytes(npy_dict("<i2", "()"), "xy"),
      npy_bytes(npy_dict("<f2", "(0, 3)"), ""),
      npy_bytes(npy_dict("|O", "(1,)"), "\x80\x04N."),
      npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2L,)}", ""),
  };
}

}  // namespace undertext
