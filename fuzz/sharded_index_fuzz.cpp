#include <ATen/ATen.h>

#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "tensors/sharded_index.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const SharedBytes json = input(bytes);
  touch(read_sharded(json.view(), "input", [](const std::string& shard) {
    // Nothing outside the index's folder may be asked for.
    UNDERTEXT_CHECK(shard.find('/') == shard.npos && !shard.empty() && shard != "..");
    TensorFile file;
    file.order = {"w" + shard, "b" + shard};
    for (const std::string& name : file.order) file.tensors.emplace(name, at::ones({1}));
    return file;
  }));
}

std::vector<std::string> seeds() {
  return {
      R"({"weight_map":{}})",
      R"({"weight_map":{"w1":"1","b1":"1","w2":"2"}})",
      R"({"metadata":{"total_size":12,"x":[1,-2,0.5,null,true,{"weight_map":{}}]},"weight_map":{"w1":"1"}})",
      R"({"weight_map":{"w..":".."}})",
  };
}

}  // namespace undertext
