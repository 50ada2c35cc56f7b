#include "tensors/safetensors.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "tensors/dtypes.h"
#include "tensors/safetensors_header.h"

namespace undertext {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are the maps");

constexpr std::size_t kLength = 8;  // the header's length, in front of it

// A whole file in memory, read by the system as it is touched.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) {
    // Not to wait for a writer when the path is a pipe: pipes are refused below.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) fail("{}: cannot open: {}", path.string(), std::strerror(errno));
    struct stat status {};
    const bool known = ::fstat(fd, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
      ::close(fd);
      fail("{}: is not a regular file, expected safetensors", path.string());
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ < kLength) {
      ::close(fd);
      fail("{}: only {} bytes long, not a safetensors file", path.string(), size_);
    }
    // Private: a tensor that is changed in place gets its own pages, and the file stays as it is.
    void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    const int error = errno;
    ::close(fd);
    if (mapped == MAP_FAILED) fail("{}: cannot map: {}", path.string(), std::strerror(error));
    data_ = static_cast<char*>(mapped);
  }
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

at::Tensor tensor_of(const TensorEntry& entry, char* data, const std::shared_ptr<Mapping>& owner) {
  const auto options = at::TensorOptions(entry.dtype);
  if (entry.begin == entry.end) return at::empty(entry.shape, options);
  if (reinterpret_cast<std::uintptr_t>(data) % c10::elementSize(entry.dtype) != 0) {
    at::Tensor copy = at::empty(entry.shape, options);
    std::memcpy(copy.data_ptr(), data, entry.end - entry.begin);
    return copy;
  }
  return at::from_blob(
      data, entry.shape, [owner](void*) {}, options);
}

// A byte other than 0 or 1 is no bool to the compiler, and reading it would be undefined.
void check_bools(const TensorEntry& entry, const char* data, const std::filesystem::path& path) {
  if (entry.dtype != at::kBool) return;
  const char* end = data + (entry.end - entry.begin);
  if (std::any_of(data, end, [](char c) { return c != 0 && c != 1; })) {
    fail("{}: tensor {} of type BOOL holds a byte other than 0 and 1", path.string(), quote(entry.name));
  }
}

}  // namespace

TensorFile read_safetensors(const std::filesystem::path& path) {
  const auto mapping = std::make_shared<Mapping>(path);
  std::uint64_t length = 0;
  std::memcpy(&length, mapping->data(), kLength);
  const std::uint64_t rest = mapping->size() - kLength;
  if (length > kLargestHeader) {
    fail("{}: a header of {} bytes, expected at most {}: not a safetensors file", path.string(), length,
         kLargestHeader);
  }
  if (length > rest) {
    fail("{}: a header of {} bytes in a file of {}: truncated, or not a safetensors file", path.string(),
         length, mapping->size());
  }
  char* data = mapping->data() + kLength + length;
  SafetensorsHeader header =
      parse_safetensors_header({mapping->data() + kLength, length}, rest - length, path.string());
  TensorFile file;
  file.metadata = std::move(header.metadata);
  for (const TensorEntry& entry : header.entries) {
    check_bools(entry, data + entry.begin, path);
    file.tensors.emplace(entry.name, tensor_of(entry, data + entry.begin, mapping));
  }
  return file;
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata) {
  // Wide types first: with a header padded to 8 bytes every tensor is then aligned to its elements.
  std::vector<NamedTensors::const_iterator> order;
  for (auto it = tensors.begin(); it != tensors.end(); ++it) order.push_back(it);
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
