#include "tensors/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace undertext {

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
  return {std::shared_ptr<void>(mapped, [size](void* data) { ::munmap(data, size); }),
          static_cast<char*>(mapped), size};
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
