#include "tensors/zip_writer.h"

#include <ATen/ATen.h>
#include <zlib.h>

#include <limits>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "tensors/zip_format.h"

namespace undertext {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint16_t kPadding = 0x4246;     // the extra field that torch pads with, which readers skip
constexpr std::uint16_t kVersion = 45;         // of a reader that knows zip64
constexpr std::uint16_t kUtf8 = 1 << 11;       // what names are in
constexpr std::uint32_t kNoTime = 0x00210000;  // 1980-01-01 00:00, the first there is

template <typename Number>
void add(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}
void add16(std::string& bytes, std::uint64_t number) {
  add(bytes, static_cast<std::uint16_t>(number));
}
void add32(std::string& bytes, std::uint64_t number) {
  add(bytes, static_cast<std::uint32_t>(number));
}
void add64(std::string& bytes, std::uint64_t number) {
  add(bytes, number);
}

struct Placed {
  std::string_view name;
  std::uint64_t header = 0, size = 0;
  std::uint32_t crc = 0;
};

// The contiguous tensor of a piece; undefined where it has none.
at::Tensor dense(const ZipPiece& piece) {
  return piece.tensor.defined() ? piece.tensor.detach().cpu().contiguous() : at::Tensor();
}

class Writer {
 public:
  Writer(std::ostream& out, std::uint64_t zip64_from) : out_(out), zip64_from_(zip64_from) {}

  void add_piece(const ZipPiece& piece) {
    const at::Tensor tensor = dense(piece);
    Placed placed{piece.name, offset_, piece.text.size() + (tensor.defined() ? tensor.nbytes() : 0)};
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(piece.text.data()), piece.text.size());
    if (tensor.defined() && tensor.nbytes() > 0) {
      crc = crc32_z(crc, static_cast<const Bytef*>(tensor.data_ptr()), tensor.nbytes());
    }
    placed.crc = static_cast<std::uint32_t>(crc);

    const bool wide = placed.size >= zip64_from_;
    std::string extra;
    if (wide) {
      add16(extra, zip::kZip64Extra);
      add16(extra, 16);
      add64(extra, placed.size);
      add64(extra, placed.size);
    }
    // Padding needs four bytes for itself.
    const std::uint64_t before = offset_ + zip::kLocalHeaderSize + piece.name.size() + extra.size() + 4;
    const std::uint64_t padding = (kAlignment - before % kAlignment) % kAlignment;
    add16(extra, kPadding);
    add16(extra, padding);
    extra.append(padding, '\0');

    std::string header;
    add32(header, zip::kLocalHeader);
    add16(header, kVersion);
    add_description(header, placed, wide);
    add16(header, piece.name.size());
    add16(header, extra.size());
    write(header + piece.name + extra);
    write(piece.text);
    if (tensor.defined()) write({static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()});
    placed_.push_back(placed);
  }

  void finish() {
    const std::uint64_t begin = offset_;
    for (const Placed& placed : placed_) add_to_directory(placed);
    const std::uint64_t size = offset_ - begin, count = placed_.size();
    const bool wide = begin >= zip64_from_ || size >= zip64_from_ ||
                      count >= std::min<std::uint64_t>(zip64_from_, zip::kSee16);
    std::string end;
    if (wide) {
      add32(end, zip::kEnd64);
      add64(end, zip::kEnd64Size - 12);
      add16(end, kVersion);
      add16(end, kVersion);
      add32(end, 0);  // the only disk
      add32(end, 0);
      add64(end, count);
      add64(end, count);
      add64(end, size);
      add64(end, begin);
      add32(end, zip::kEnd64Locator);
      add32(end, 0);
      add64(end, begin + size);
      add32(end, 1);
    }
    add32(end, zip::kEnd);
    add32(end, 0);
    add16(end, wide ? zip::kSee16 : count);
    add16(end, wide ? zip::kSee16 : count);
    add32(end, wide ? zip::kSee32 : size);
    add32(end, wide ? zip::kSee32 : begin);
    add16(end, 0);
    write(end);
  }

 private:
  // What an entry's own header and the directory say in the same words.
  static void add_description(std::string& bytes, const Placed& placed, bool wide) {
    add16(bytes, kUtf8);
    add16(bytes, zip::kStored);
    add32(bytes, kNoTime);
    add32(bytes, placed.crc);
    add32(bytes, wide ? zip::kSee32 : placed.size);
    add32(bytes, wide ? zip::kSee32 : placed.size);
  }

  void add_to_directory(const Placed& placed) {
    const bool wide = placed.size >= zip64_from_, far = placed.header >= zip64_from_;
    std::string extra;
    if (wide || far) {
      add16(extra, zip::kZip64Extra);
      add16(extra, (wide ? 16 : 0) + (far ? 8 : 0));
      if (wide) add64(extra, placed.size);
      if (wide) add64(extra, placed.size);
      if (far) add64(extra, placed.header);
    }
    std::string header;
    add32(header, zip::kDirectoryHeader);
    add16(header, kVersion);
    add16(header, kVersion);
    add_description(header, placed, wide);
    add16(header, placed.name.size());
    add16(header, extra.size());
    add16(header, 0);  // no comment
    add16(header, 0);  // the only disk
    add16(header, 0);
    add32(header, 0);
    add32(header, far ? zip::kSee32 : placed.header);
    write(header.append(placed.name).append(extra));
  }

  void write(std::string_view bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    offset_ += bytes.size();
  }

  std::ostream& out_;
  std::uint64_t zip64_from_;
  std::uint64_t offset_ = 0;
  std::vector<Placed> placed_;
};

}  // namespace

void write_zip(const std::filesystem::path& path, std::span<const ZipPiece> pieces,
               std::uint64_t zip64_from) {
  for (const ZipPiece& piece : pieces) {
    if (piece.name.size() > std::numeric_limits<std::uint16_t>::max()) {
      fail("{}: cannot write: the name {} is too long for a zip archive", path.string(), quote(piece.name));
    }
  }
  write_file(path, [&](std::ostream& out) {
    Writer writer(out, zip64_from);
    for (const ZipPiece& piece : pieces) writer.add_piece(piece);
    writer.finish();
  });
}

}  // namespace undertext
