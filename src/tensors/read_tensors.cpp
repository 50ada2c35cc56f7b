#include "tensors/read_tensors.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensors/npy.h"
#include "tensors/npz.h"
#include "tensors/safetensors.h"
#include "tensors/safetensors_header.h"
#include "tensors/sharded_index.h"
#include "tensors/torch_zip.h"
#include "tensors/zip_archive.h"

namespace undertext {
namespace {

constexpr std::array kModelFiles = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                    "pytorch_model.bin.index.json", "model.npz"};

std::uint64_t safetensors_header_size(std::string_view bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length;
}

bool looks_like_safetensors(std::string_view bytes) {
  constexpr std::size_t kBrace = sizeof(std::uint64_t);
  return bytes.size() > kBrace && bytes[kBrace] == '{' && safetensors_header_size(bytes) <= kLargestHeader;
}

// JSON. The length of a safetensors header may begin with the same byte; letters after it would make it too
// large.
bool looks_like_index(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != bytes.npos && bytes[first] == '{' && !looks_like_safetensors(bytes);
}

// What other files begin with, and what to do about it.
struct Stranger {
  std::string_view begin;
  const char* advice;
};

constexpr std::string_view kPickles[] = {"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"};

constexpr std::array<Stranger, 4> kStrangers{{
    {"\x89HDF\r\n", "is HDF5 (Keras), which is not read: save the weights with numpy.savez"},
    {"GGUF", "is GGUF, which is not read: use the checkpoint that it was made from"},
    {"\x1f\x8b", "is compressed by gzip: unpack it first"},
    {"version https://git-lfs", "is a pointer of git LFS, not the file: fetch it with git lfs pull"},
}};

[[noreturn]] void refuse(std::string_view bytes, const std::string& file) {
  for (const std::string_view pickle : kPickles) {
    if (bytes.starts_with(pickle)) {
      fail(
          "{}: is a bare pickle, as torch.save wrote before torch 1.6: refused, because a pickle can run "
          "code; load "
          "and save it with torch 1.6 or later, or as safetensors",
          file);
    }
  }
  for (const Stranger& stranger : kStrangers) {
    if (bytes.starts_with(stranger.begin)) fail("{}: {}", file, stranger.advice);
  }
  fail("{}: holds no tensors that can be read, expected safetensors, npz, npy or a file of torch.save", file);
}

}  // namespace

std::filesystem::path tensor_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  std::string names;
  for (const char* name : kModelFiles) {
    if (std::filesystem::exists(path / name, ignored)) return path / name;
    names += names.empty() ? name : std::string(", ") + name;
  }
  fail("{}: a folder without a model, expected one of {}", path.string(), names);
}

TensorFile read_tensors(const SharedBytes& bytes, const std::string& file) {
  const std::string_view view = bytes.view();
  if (ZipArchive::looks_like(view)) {
    const ZipArchive archive(bytes, file);
    return is_torch_zip(archive) ? read_torch_zip(archive, file) : read_npz(archive, file);
  }
  if (looks_like_npy(view)) return read_npy(bytes, file);
  // Also what is only named so: its reader says best what is wrong with it.
  if (looks_like_safetensors(view) || file.ends_with(".safetensors")) return read_safetensors(bytes, file);
  refuse(view, file);
}

TensorFile read_tensors(const std::filesystem::path& given) {
  const std::filesystem::path path = tensor_file(given);
  const SharedBytes bytes = map_file(path);
  if (!looks_like_index(bytes.view())) return read_tensors(bytes, path.string());
  return read_sharded(bytes.view(), path.string(), [&](const std::string& shard) {
    const std::filesystem::path file = path.parent_path() / shard;
    return read_tensors(map_file(file), file.string());
  });
}

}  // namespace undertext
