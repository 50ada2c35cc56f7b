#include "tensors/npz.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "tensors/npy.h"
#include "tensors/zip_writer.h"

namespace undertext {
namespace {

constexpr std::string_view kEnding = ".npy";

}  // namespace

TensorFile read_npz(const ZipArchive& archive, const std::string& file) {
  TensorFile content;
  content.format = "npz";
  if (archive.entries().empty()) fail("{}: an archive without arrays", file);
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kEnding) || entry.name.size() == kEnding.size()) {
      fail("{}: the entry {} is no array: expected a numpy archive with names that end in {}", file,
           quote(entry.name), kEnding);
    }
    const std::string what = fmt::format("{}: {}", file, quote(entry.name));
    // The header first: what it says of the size must hold before anything as large is unpacked.
    const SharedBytes beginning = archive.beginning(entry, kLargestNpyHeader + 1);
    const NpyHeader header = parse_npy_header(beginning.view(), entry.size, what);
    const std::string name = entry.name.substr(0, entry.name.size() - kEnding.size());
    content.tensors.emplace(name, npy_tensor(header, archive.content(entry), what));
    content.order.push_back(name);
  }
  settle_names(content);
  return content;
}

void write_npz(const std::filesystem::path& path, const TensorFile& content) {
  std::vector<ZipPiece> pieces;
  for (const std::string& name : content.order) {
    const at::Tensor& tensor = content.tensors.at(name);
    const std::string header =
        npy_header(tensor, fmt::format("{}: cannot write the tensor {}", path.string(), quote(name)));
    pieces.push_back({name + std::string(kEnding), header, tensor});
  }
  write_zip(path, pieces);
}

}  // namespace undertext
