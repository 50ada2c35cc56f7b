#include "tensors/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace undertext {
namespace {

// Where files are mapped now: begin and size.
struct Mappings {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> live;
};

Mappings& mappings() {
  static auto* all = new Mappings;  // never destroyed: tensors may outlive the statics
  return *all;
}

void unmap(void* data, std::size_t size) {
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().live.erase(reinterpret_cast<std::uintptr_t>(data));
  }
  ::munmap(data, size);
}

}  // namespace

SharedBytes SharedBytes::part(std::size_t begin, std::size_t length) const {
  UNDERTEXT_CHECK(begin <= size && length <= size - begin);
  return {owner, data + begin, length};
}

SharedBytes map_file(const std::filesystem::path& path) {
  // Not to wait for a writer when the path is a pipe: pipes are refused below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("{}: cannot open: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    fail("{}: is not a regular file, expected a file of tensors", path.string());
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {  // nothing that could be mapped
    ::close(fd);
    return {};
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (mapped == MAP_FAILED) fail("{}: cannot map: {}", path.string(), std::strerror(error));
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().live[reinterpret_cast<std::uintptr_t>(mapped)] = size;
  }
  return {std::shared_ptr<void>(mapped, [size](void* data) { unmap(data, size); }),
          static_cast<char*>(mapped), size};
}

void release_unchanged(const void* data, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + size;
  const std::lock_guard lock(mappings().mutex);
  auto found = mappings().live.upper_bound(begin);
  if (found == mappings().live.begin()) return;
  --found;
  if (end > found->first + found->second) return;
  // Whole pages alone: their neighbours may belong to another tensor.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

SharedBytes keep_bytes(std::string bytes) {
  const auto kept = std::make_shared<std::string>(std::move(bytes));
  return {kept, kept->data(), kept->size()};
}

SharedBytes new_bytes(std::size_t size) {
  const std::shared_ptr<char[]> room(new char[size]);
  return {room, room.get(), size};
}

}  // namespace undertext
