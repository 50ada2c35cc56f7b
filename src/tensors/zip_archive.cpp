#include "tensors/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "tensors/tensor_view.h"
#include "tensors/zip_format.h"

namespace undertext {
namespace {

// A number of the format, little-endian. The caller knows that it lies inside.
template <typename Number>
Number number_at(std::string_view bytes, std::uint64_t offset) {
  UNDERTEXT_CHECK(offset <= bytes.size() && sizeof(Number) <= bytes.size() - offset);
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(Number));
  return number;
}

constexpr auto u16 = number_at<std::uint16_t>;
constexpr auto u32 = number_at<std::uint32_t>;
constexpr auto u64 = number_at<std::uint64_t>;

// Names are never used as paths here, but what is made from them may be.
bool harmless(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; })) {
    return false;
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

// The wide numbers of an entry, in the order in which its header asks for them.
class Zip64Extra {
 public:
  explicit Zip64Extra(std::string_view extra) {
    while (extra.size() >= 4) {
      const std::size_t size = u16(extra, 2);
      if (size > extra.size() - 4) return;
      if (u16(extra, 0) == zip::kZip64Extra) {
        numbers_ = extra.substr(4, size);
        return;
      }
      extra.remove_prefix(4 + size);
    }
  }
  std::optional<std::uint64_t> next() {
    if (numbers_.size() < 8) return std::nullopt;
    const std::uint64_t number = u64(numbers_, 0);
    numbers_.remove_prefix(8);
    return number;
  }

 private:
  std::string_view numbers_;
};

}  // namespace

ZipArchive::ZipArchive(SharedBytes bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  read_directory(find_directory());
  std::uint64_t unfolded = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const ZipEntry& entry = entries_[i];
    if (!places_.emplace(entry.name, i).second)
      fail("{}: the archive lists {} twice", file_, quote(entry.name));
    if (entry.deflated && __builtin_add_overflow(unfolded, entry.size, &unfolded)) {
      fail("{}: the entry {} claims {} bytes", file_, quote(entry.name), entry.size);
    }
  }
  check_unfolded(unfolded, bytes_.size, file_);
}

bool ZipArchive::looks_like(std::string_view bytes) {
  return bytes.size() >= 4 && (u32(bytes, 0) == zip::kLocalHeader || u32(bytes, 0) == zip::kEnd);
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const std::string_view all = bytes_.view();
  // The end record is followed by a comment of at most 64 KiB, and that by nothing.
  constexpr std::uint64_t kLongestComment = 0xFFFF;
  for (std::uint64_t comment = 0; comment <= kLongestComment && comment + zip::kEndSize <= all.size();
       ++comment) {
    const std::uint64_t at = all.size() - zip::kEndSize - comment;
    if (u32(all, at) != zip::kEnd || u16(all, at + 20) != comment) continue;
    const bool zip64 =
        at >= zip::kEnd64LocatorSize && u32(all, at - zip::kEnd64LocatorSize) == zip::kEnd64Locator;
    if (zip64) return find_zip64_directory(at);
    if (u16(all, at + 4) != 0 || u16(all, at + 6) != 0)
      fail("{}: is one of several parts of an archive", file_);
    const Directory directory{u32(all, at + 16), u32(all, at + 12), u16(all, at + 10)};
    if (directory.begin + directory.size != at || u16(all, at + 8) != directory.entries) {
      fail("{}: the archive's directory is not where its end record says: truncated or damaged", file_);
    }
    return directory;
  }
  fail("{}: a zip archive without its end: truncated or damaged", file_);
}

ZipArchive::Directory ZipArchive::find_zip64_directory(std::uint64_t end_record) const {
  const std::string_view all = bytes_.view();
  const std::uint64_t locator = end_record - zip::kEnd64LocatorSize;
  const std::uint64_t at = u64(all, locator + 8);
  // Exactly before its locator, so that no two readers find two directories.
  if (u32(all, locator + 4) != 0 || u32(all, locator + 16) > 1) {
    fail("{}: is one of several parts of an archive", file_);
  }
  if (locator < zip::kEnd64Size || at != locator - zip::kEnd64Size || u32(all, at) != zip::kEnd64 ||
      u64(all, at + 4) != zip::kEnd64Size - 12) {
    fail("{}: the archive's zip64 record is not where its locator says: truncated or damaged", file_);
  }
  if (u32(all, at + 16) != 0 || u32(all, at + 20) != 0)
    fail("{}: is one of several parts of an archive", file_);
  const Directory directory{u64(all, at + 48), u64(all, at + 40), u64(all, at + 32)};
  if (directory.begin > at || directory.size != at - directory.begin ||
      u64(all, at + 24) != directory.entries) {
    fail("{}: the archive's directory is not where its zip64 record says: truncated or damaged", file_);
  }
  // The short record says the same, or nothing.
  const auto agrees = [](std::uint64_t narrow, std::uint64_t none, std::uint64_t wide) {
    return narrow == none || narrow == wide;
  };
  if (!agrees(u16(all, end_record + 10), zip::kSee16, directory.entries) ||
      !agrees(u32(all, end_record + 12), zip::kSee32, directory.size) ||
      !agrees(u32(all, end_record + 16), zip::kSee32, directory.begin)) {
    fail("{}: the archive's two end records contradict each other", file_);
  }
  return directory;
}

void ZipArchive::read_directory(const Directory& directory) {
  const std::string_view all = bytes_.view();
  std::string_view left = all.substr(directory.begin, directory.size);
  if (directory.entries > kMostEntries) fail("{}: the archive has over {} entries", file_, kMostEntries);
  std::vector<std::uint64_t> headers;  // where each entry's own header begins
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const auto damaged = [&](const char* what) {
      fail("{}: {} in entry {} of the archive's directory: truncated or damaged", file_, what, i);
    };
    if (left.size() < zip::kDirectoryHeaderSize || u32(left, 0) != zip::kDirectoryHeader)
      damaged("no header");
    const std::uint64_t name_size = u16(left, 28), extra_size = u16(left, 30), comment_size = u16(left, 32);
    const std::uint64_t whole = zip::kDirectoryHeaderSize + name_size + extra_size + comment_size;
    if (whole > left.size()) damaged("a name or field that is too long");
    ZipEntry entry;
    entry.name = left.substr(zip::kDirectoryHeaderSize, name_size);
    const std::string shown = quote(entry.name);
    if (!harmless(entry.name)) fail("{}: the archive has an entry named {}: refused", file_, shown);
    const std::uint16_t flags = u16(left, 8), method = u16(left, 10);
    constexpr std::uint16_t kEncrypted = 1 | 1 << 6 | 1 << 13;
    if ((flags & kEncrypted) != 0) fail("{}: the entry {} is encrypted", file_, shown);
    if (method != zip::kStored && method != zip::kDeflated) {
      fail("{}: the entry {} is compressed by method {}, expected stored or deflated", file_, shown, method);
    }
    entry.deflated = method == zip::kDeflated;
    entry.crc = u32(left, 16);

    Zip64Extra wide(left.substr(zip::kDirectoryHeaderSize + name_size, extra_size));
    const auto number = [&](std::uint64_t offset) -> std::uint64_t {
      const std::uint32_t narrow = u32(left, offset);
      if (narrow != zip::kSee32) return narrow;
      const std::optional<std::uint64_t> found = wide.next();
      return found ? *found : narrow;
    };
    entry.size = number(24);
    entry.packed = number(20);
    const std::uint64_t header = number(42);
    if (const std::uint16_t disk = u16(left, 34); disk != 0 && disk != zip::kSee16) {
      fail("{}: is one of several parts of an archive", file_);
    }
    left.remove_prefix(whole);

    if (header > directory.begin || directory.begin - header < zip::kLocalHeaderSize) {
      fail("{}: the entry {} begins at byte {} of {}: truncated or damaged", file_, shown, header,
           all.size());
    }
    const std::uint64_t local_name = u16(all, header + 26), local_extra = u16(all, header + 28);
    entry.begin = header + zip::kLocalHeaderSize + local_name + local_extra;
    if (entry.begin > directory.begin || u32(all, header) != zip::kLocalHeader ||
        u16(all, header + 8) != method ||
        all.substr(header + zip::kLocalHeaderSize, local_name) != entry.name) {
      fail("{}: the header of the entry {} does not say what the directory says", file_, shown);
    }
    if (entry.packed > directory.begin - entry.begin) {
      fail("{}: the entry {} claims {} bytes from byte {} of {}: truncated or damaged", file_, shown,
           entry.packed, entry.begin, all.size());
    }
    if (!entry.deflated && entry.size != entry.packed) {
      fail("{}: the entry {} is stored in {} bytes, but claims {}", file_, shown, entry.packed, entry.size);
    }
    // Deflate cannot do better than 258 bytes for two bits.
    constexpr std::uint64_t kMostPerByte = 1032;
    if (entry.deflated && entry.size / kMostPerByte > entry.packed) {
      fail("{}: the entry {} claims {} bytes out of {}, which nothing compresses to", file_, shown,
           entry.size, entry.packed);
    }
    headers.push_back(header);
    entries_.push_back(std::move(entry));
  }
  if (!left.empty()) fail("{}: {} bytes of the archive's directory belong to no entry", file_, left.size());
  check_places(headers, directory.begin);
  std::erase_if(entries_, [](const ZipEntry& entry) { return entry.name.ends_with('/'); });  // folders
}

void ZipArchive::check_places(const std::vector<std::uint64_t>& headers, std::uint64_t directory) const {
  std::vector<std::size_t> order(headers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return headers[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ZipEntry& entry = entries_[order[i]];
    const std::uint64_t next = i + 1 < order.size() ? headers[order[i + 1]] : directory;
    if (entry.begin + entry.packed > next) {
      fail("{}: the entry {} overlaps the next one", file_, quote(entry.name));
    }
  }
}

SharedBytes ZipArchive::beginning(const ZipEntry& entry, std::size_t most) const {
  const std::uint64_t size = std::min<std::uint64_t>(entry.size, most);
  return entry.deflated ? inflated(entry, size) : bytes_.part(entry.begin, size);
}

SharedBytes ZipArchive::content(const ZipEntry& entry) const {
  return beginning(entry, entry.size);
}

// The first `size` bytes of an entry; when these are all, also that nothing follows and the checksum.
SharedBytes ZipArchive::inflated(const ZipEntry& entry, std::uint64_t size) const {
  SharedBytes out = new_bytes(size);
  z_stream stream{};
  constexpr int kNoHeader = -MAX_WBITS;
  if (inflateInit2(&stream, kNoHeader) != Z_OK) throw std::bad_alloc();
  const auto damaged = [&] {
    inflateEnd(&stream);
    fail("{}: the compressed entry {} is damaged", file_, quote(entry.name));
  };
  std::uint64_t read = 0, written = 0;
  int status = Z_OK;
  // In pieces, because zlib counts in 32 bits.
  constexpr std::uint64_t kPiece = 1 << 30;
  char past_the_end = 0;  // where zlib may write when all is there but the end marker
  const bool whole = size == entry.size;
  while (status == Z_OK && (written < size || whole)) {
    const std::uint64_t in = std::min(kPiece, entry.packed - read);
    const std::uint64_t room = std::min(kPiece, size - written);
    stream.next_in = reinterpret_cast<Bytef*>(bytes_.data + entry.begin + read);
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data + written : &past_the_end);
    stream.avail_out = static_cast<uInt>(std::max<std::uint64_t>(room, 1));
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    const std::uint64_t got = std::max<std::uint64_t>(room, 1) - stream.avail_out;
    if (got > room) damaged();
    written += got;
  }
  const bool ended = status == Z_STREAM_END;
  if (written != size || (!ended && status != Z_OK)) damaged();
  if (whole && (!ended || read != entry.packed)) damaged();
  inflateEnd(&stream);
  if (whole) {
    uLong crc = crc32(0, nullptr, 0);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(out.data), size);
    if (crc != entry.crc) {
      fail("{}: the checksum of the entry {} is {:08x}, expected {:08x}: damaged", file_, quote(entry.name),
           crc, entry.crc);
    }
  }
  return out;
}

}  // namespace undertext
