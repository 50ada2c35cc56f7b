#include <ATen/ATen.h>

#include "base/error.h"
#include "tensors/torch_zip.h"
#include "tensors/zip_writer.h"

namespace undertext {
namespace {

std::string_view storage_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
      return "DoubleStorage";
    case at::kFloat:
      return "FloatStorage";
    case at::kHalf:
      return "HalfStorage";
    case at::kBFloat16:
      return "BFloat16Storage";
    case at::kLong:
      return "LongStorage";
    case at::kInt:
      return "IntStorage";
    case at::kShort:
      return "ShortStorage";
    case at::kChar:
      return "CharStorage";
    case at::kByte:
      return "ByteStorage";
    case at::kBool:
      return "BoolStorage";
    default:
      return "";
  }
}

// Pickle's protocol 2, as much of it as a dict of tensors needs.
class PickleWriter {
 public:
  PickleWriter() {
    bytes_ = "\x80\x02";
    ordered_dict();
    bytes_ += '(';
  }

  void add(std::string_view name, const at::Tensor& tensor, const std::string& key) {
    text(name);
    global("torch._utils", "_rebuild_tensor_v2");
    bytes_ += "((";
    text("storage");
    global("torch", storage_of(tensor.scalar_type()));
    text(key);
    text("cpu");
    integer(tensor.numel());
    bytes_ += "tQ";
    integer(0);
    integers(tensor.sizes());
    integers(tensor.strides());
    bytes_ += '\x89';  // requires no gradient
    ordered_dict();    // and has no hooks
    bytes_ += "tR";
  }

  std::string finish() { return std::move(bytes_) + "u."; }

 private:
  void ordered_dict() {
    global("collections", "OrderedDict");
    bytes_ += ")R";
  }
  void global(std::string_view module, std::string_view name) {
    bytes_ += fmt::format("c{}\n{}\n", module, name);
  }
  void text(std::string_view text) {
    bytes_ += 'X';
    little_endian(text.size(), 4);
    bytes_ += text;
  }
  void integer(std::int64_t value) {  // as a long of 8 bytes, whatever its size
    bytes_ += "\x8a\x08";
    little_endian(static_cast<std::uint64_t>(value), 8);
  }
  void integers(at::IntArrayRef values) {
    bytes_ += '(';
    for (const std::int64_t value : values) integer(value);
    bytes_ += 't';
  }
  void little_endian(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }

  std::string bytes_;
};

}  // namespace

void write_torch_zip(const std::filesystem::path& path, const TensorFile& content) {
  PickleWriter pickle;
  std::vector<ZipPiece> pieces(1);  // the pickle first, as torch has it
  for (const std::string& name : content.order) {
    const at::Tensor tensor = content.tensors.at(name).detach().cpu().contiguous();
    if (storage_of(tensor.scalar_type()).empty()) {
      fail("{}: cannot write the tensor {} of type {}", path.string(), quote(name),
           c10::toString(tensor.scalar_type()));
    }
    const std::string key = std::to_string(pieces.size() - 1);
    pickle.add(name, tensor, key);
    pieces.push_back({"archive/data/" + key, "", tensor});
  }
  pieces.front() = {"archive/data.pkl", pickle.finish(), {}};
  pieces.push_back({"archive/byteorder", "little", {}});
  pieces.push_back({"archive/version", "3\n", {}});
  write_zip(path, pieces);
}

}  // namespace undertext
