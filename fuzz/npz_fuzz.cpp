#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "tensors/npz.h"
#include "tensors/zip_bytes.h"

namespace undertext {

void try_input(std::string_view bytes) {
  touch(read_npz(ZipArchive(input(bytes), "input"), "input"));
}

std::vector<std::string> seeds() {
  const std::string floats = npy_bytes(npy_dict("<f4", "(5, 3)"), std::string(60, 'x'));
  const std::string bools = npy_bytes(npy_dict("|b1", "(2, 1)", true), std::string(2, '\1'));
  // One entry whose numbers are in a zip64 field.
  ZipPart wide{.name = "a.npy", .content = bools, .packed = 0xFFFFFFFF, .size = 0xFFFFFFFF};
  wide.extra = little_endian(1, 2) + little_endian(16, 2) + little_endian(bools.size(), 8) +
               little_endian(bools.size(), 8);
  return {
      zip_bytes({{.name = "a.npy", .content = floats}}),
      zip_bytes({{.name = "a.npy", .content = floats, .deflate = true}}),
      zip_bytes({{.name = "arr_1.npy", .content = bools},
                 {.name = "arr_0.npy", .content = floats, .deflate = true}},
                {.comment = "comment"}),
      zip_bytes({{.name = "folder/"}, {.name = "folder/a.npy", .content = bools, .flags = 8}}),
      zip_bytes({wide}),
      zip_bytes({}),
  };
}

}  // namespace undertext
