#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "tensors/safetensors.h"
#include "tensors/tensor_bytes.h"

namespace undertext {

void try_input(std::string_view bytes) {
  touch(read_safetensors(input(bytes), "input"));
}

std::vector<std::string> seeds() {
  return {
      file_bytes("{}"),
      file_bytes(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678"),
      file_bytes(R"({"__metadata__":{"k":"v"},"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                 R"("b":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]},)"
                 R"("c":{"dtype":"U8","shape":[0,3],"data_offsets":[12,12]},)"
                 R"("d":{"dtype":"BOOL","shape":[1],"data_offsets":[12,13]}})",
                 "123456781234\1"),
  };
}

}  // namespace undertext
