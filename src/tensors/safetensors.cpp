#include "tensors/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "tensors/dtypes.h"
#include "tensors/safetensors_header.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

constexpr std::size_t kLength = 8;  // the header's length, in front of it

}  // namespace

TensorFile read_safetensors(const SharedBytes& bytes, const std::string& file) {
  if (bytes.size < kLength) fail("{}: only {} bytes long, not a safetensors file", file, bytes.size);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data, kLength);
  const std::uint64_t rest = bytes.size - kLength;
  if (length > kLargestHeader) {
    fail("{}: a header of {} bytes, expected at most {}: not a safetensors file", file, length,
         kLargestHeader);
  }
  if (length > rest) {
    fail("{}: a header of {} bytes in a file of {}: truncated, or not a safetensors file", file, length,
         bytes.size);
  }
  const std::uint64_t data = kLength + length;
  SafetensorsHeader header =
      parse_safetensors_header(bytes.view().substr(kLength, length), rest - length, file);
  TensorFile content;
  content.format = "safetensors";
  content.metadata = std::move(header.metadata);
  for (const TensorEntry& entry : header.entries) {
    const std::string what = fmt::format("{}: tensor {}", file, quote(entry.name));
    const SharedBytes part = bytes.part(data + entry.begin, entry.end - entry.begin);
    content.tensors.emplace(entry.name, tensor_on(part, entry.dtype, entry.shape, what));
    content.order.push_back(entry.name);
  }
  settle_names(content);
  return content;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(map_file(path), path.string());
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata, const std::vector<std::string>& names) {
  UNDERTEXT_CHECK(names.empty() || names.size() == tensors.size());
  std::vector<NamedTensors::const_iterator> order;
  for (const std::string& name : names) order.push_back(tensors.find(name));
  for (auto it = tensors.begin(); names.empty() && it != tensors.end(); ++it) order.push_back(it);
  // Wide types first: with a header padded to 8 bytes every tensor is then aligned to its elements.
  std::ranges::stable_sort(order, std::greater{}, [](const auto& it) { return it->second.element_size(); });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& it : order) {
    const auto& [name, tensor] = *it;
    const std::string_view dtype = name_of(tensor.scalar_type());
    if (dtype.empty() || name == "__metadata__") {
      fail("{}: cannot write the tensor {} of type {}", path.string(), quote(name),
           c10::toString(tensor.scalar_type()));
    }
    const std::uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", dtype}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    fail("{}: cannot write: a name or a metadata value is not UTF-8", path.string());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');

  write_file(path, [&](std::ostream& out) {
    const std::uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), kLength);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const auto& it : order) {
      const at::Tensor dense = it->second.detach().cpu().contiguous();
      out.write(static_cast<const char*>(dense.data_ptr()), static_cast<std::streamsize>(dense.nbytes()));
    }
  });
}

}  // namespace undertext
