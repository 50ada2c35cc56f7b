// Zip archives, read from a mapping. Entries that are stored are not copied, which is why this is not left to
// a library; those that are deflated go through zlib.
//
// The central directory is believed, once everything in it has been checked against the file: an archive that
// is encrypted, split, or has entries that overlap, share a name or reach beyond the file is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensors/mapping.h"

namespace undertext {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t begin = 0;   // of its bytes in the archive
  std::uint64_t packed = 0;  // how many those are
  std::uint64_t size = 0;    // and how many come out
};

class ZipArchive {
 public:
  // Messages begin with file.
  ZipArchive(SharedBytes bytes, std::string file);
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  // Whether the bytes begin as archives do, also empty ones.
  static bool looks_like(std::string_view bytes);

  const std::vector<ZipEntry>& entries() const { return entries_; }  // in the directory's order, no folders
  const ZipEntry* find(std::string_view name) const;                 // nullptr when there is none
  std::uint64_t size() const { return bytes_.size; }                 // of the whole archive

  // The first bytes of an entry, at most `most`.
  SharedBytes beginning(const ZipEntry& entry, std::size_t most) const;
  // All of it. Only where something is unpacked the checksum is compared: to read all pages of a mapping is
  // what a mapping is there to avoid.
  SharedBytes content(const ZipEntry& entry) const;

 private:
  struct Directory {
    std::uint64_t begin = 0, size = 0, entries = 0;
  };
  Directory find_directory() const;
  Directory find_zip64_directory(std::uint64_t end_record) const;
  void read_directory(const Directory& directory);
  void check_places(const std::vector<std::uint64_t>& headers, std::uint64_t directory) const;
  SharedBytes inflated(const ZipEntry& entry, std::uint64_t size) const;

  SharedBytes bytes_;
  std::string file_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, std::size_t> places_;  // by the entries' names
};

}  // namespace undertext
