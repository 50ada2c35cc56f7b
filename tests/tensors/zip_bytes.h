// Zip archives made by hand, so that they can say anything.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace undertext {

inline std::string little_endian(std::uint64_t number, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xFF);
  return out;
}

// One entry. What is not set is told truly.
struct ZipPart {
  std::string name = {};
  std::string content = {};
  bool deflate = false;
  std::optional<std::uint32_t> method = {}, crc = {}, packed = {}, size = {}, header = {};
  std::uint16_t flags = 0, disk = 0;
  std::string extra = {},
              local_extra = {};  // fields after the name, in the directory and in the entry's own header
  std::optional<std::string> local_name = {};  // where the entry's own header says another one
};

inline std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ZipEnd {
  std::optional<std::uint32_t> begin = {}, size = {};  // of the directory
  std::optional<std::uint16_t> entries = {}, disk = {};
  std::string comment = {}, after_directory = {},
              after = {};  // what stands behind the directory, and behind everything
};

inline std::string zip_bytes(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
  std::string bytes, directory;
  for (const ZipPart& part : parts) {
    const std::string packed = part.deflate ? deflated(part.content) : part.content;
    const std::uint64_t crc = part.crc.value_or(static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(part.content.data()), part.content.size())));
    const std::string local_name = part.local_name.value_or(part.name);
    const std::string description = little_endian(part.flags, 2) +
                                    little_endian(part.method.value_or(part.deflate ? 8 : 0), 2) +
                                    little_endian(0x00210000, 4) + little_endian(crc, 4) +
                                    little_endian(part.packed.value_or(packed.size()), 4) +
                                    little_endian(part.size.value_or(part.content.size()), 4);
    directory += "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + description +
                 little_endian(part.name.size(), 2) + little_endian(part.extra.size(), 2) +
                 little_endian(0, 2) + little_endian(part.disk, 2) + little_endian(0, 6) +
                 little_endian(part.header.value_or(bytes.size()), 4) + part.name + part.extra;
    bytes += "PK\3\4" + little_endian(20, 2) + description + little_endian(local_name.size(), 2) +
             little_endian(part.local_extra.size(), 2) + local_name + part.local_extra + packed;
  }
  const std::uint64_t begin = bytes.size();
  const std::uint64_t entries = end.entries.value_or(parts.size());
  return bytes + directory + end.after_directory + "PK\5\6" + little_endian(end.disk.value_or(0), 2) +
         little_endian(0, 2) + little_endian(entries, 2) + little_endian(entries, 2) +
         little_endian(end.size.value_or(directory.size()), 4) + little_endian(end.begin.value_or(begin), 4) +
         little_endian(end.comment.size(), 2) + end.comment + end.after;
}

// A numpy array: its header as a dict literal, then the numbers.
inline std::string npy_bytes(const std::string& dict, const std::string& numbers, int version = 1) {
  return "\x93NUMPY" + little_endian(static_cast<std::uint64_t>(version), 2) +
         little_endian(dict.size(), version == 1 ? 2 : 4) + dict + numbers;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

}  // namespace undertext
