#include "tensors/write_tensors.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tensors/npz.h"
#include "tensors/safetensors.h"
#include "tensors/torch_zip.h"

namespace undertext {
namespace {

// In every format names are UTF-8. The JSON library knows what that is.
void check_names(const TensorFile& content, const std::filesystem::path& path) {
  for (const std::string& name : content.order) {
    try {
      nlohmann::json(name).dump();
    } catch (const nlohmann::json::type_error&) {
      fail("{}: cannot write: the name {} is not UTF-8", path.string(), quote(name));
    }
  }
}

}  // namespace

std::string format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".safetensors") return "safetensors";
  if (ending == ".npz") return "npz";
  if (ending == ".pt" || ending == ".pth" || ending == ".bin") return "torch";
  fail("{}: cannot tell the format, expected a name that ends in .safetensors, .npz, .pt, .pth or .bin",
       path.string());
}

void write_tensors(const std::filesystem::path& path, const TensorFile& content) {
  UNDERTEXT_CHECK(content.order.size() == content.tensors.size());
  const std::string format = format_of(path);
  check_names(content, path);
  if (format == "safetensors") {
    return write_safetensors(path, content.tensors, content.metadata, content.order);
  }
  if (format == "npz") return write_npz(path, content);
  write_torch_zip(path, content);
}

}  // namespace undertext
