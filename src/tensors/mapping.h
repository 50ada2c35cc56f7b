// The bytes of a file, kept alive by whoever looks at them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace undertext {

struct SharedBytes {
  std::shared_ptr<const void> owner;
  char* data = nullptr;
  std::size_t size = 0;

  std::string_view view() const { return {data, size}; }
  // [begin, begin + length), which must lie inside.
  SharedBytes part(std::size_t begin, std::size_t length) const;
};

// A whole regular file in memory, read by the system as it is touched. Private: what is changed in place gets
// its own pages, and the file stays as it is.
SharedBytes map_file(const std::filesystem::path& path);

// Gives the memory of [data, data + size) back to the system where it belongs to a mapped file, which is read
// again when it is touched. Only before anything there was changed in place: the change would be lost.
void release_unchanged(const void* data, std::size_t size);

// Bytes that come from elsewhere.
SharedBytes keep_bytes(std::string bytes);
// Room for `size` bytes, to be filled.
SharedBytes new_bytes(std::size_t size);

}  // namespace undertext
