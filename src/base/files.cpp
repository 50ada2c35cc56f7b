#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <streambuf>
#include <utility>
#include <vector>

#include "base/error.h"

namespace undertext {
namespace {

std::string reason(int error) {
  return std::strerror(error);
}

// Closes on scope exit; close() tells whether the system kept what was written.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// An ostream buffer that remembers the system's reason when a write fails, which std::ofstream forgets.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd), buffer_(1 << 16) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  int error() const { return error_; }

 protected:
  int sync() override {
    const bool written = write_all(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return written ? 0 : -1;
  }

  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

  // Large pieces (tensors) go straight to the system.
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    if (size <= epptr() - pptr()) {
      std::copy_n(data, size, pptr());
      pbump(static_cast<int>(size));
      return size;
    }
    return sync() == 0 && write_all(data, static_cast<std::size_t>(size)) ? size : 0;
  }

 private:
  bool write_all(const char* data, std::size_t size) {
    while (size > 0 && error_ == 0) {
      const ssize_t written = ::write(fd_, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        error_ = errno;
      } else {
        data += written;
        size -= static_cast<std::size_t>(written);
      }
    }
    return error_ == 0;
  }

  int fd_;
  int error_ = 0;
  std::vector<char> buffer_;
};

// Removes the temporary file unless it was renamed.
struct Temporary {
  std::filesystem::path path;
  bool kept = false;
  ~Temporary() {
    if (!kept) ::unlink(path.c_str());
  }
};

void write_to(Descriptor& out, const std::filesystem::path& name,
              const std::function<void(std::ostream&)>& writer) {
  DescriptorBuffer buffer(out.get());
  std::ostream stream(&buffer);
  writer(stream);
  stream.flush();
  if (buffer.error() != 0) fail("{}: cannot write: {}", name.string(), reason(buffer.error()));
  UNDERTEXT_CHECK(stream.good());
  if (!out.close()) fail("{}: cannot write: {}", name.string(), reason(errno));
}

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> count{0};
  return target.parent_path() /
         fmt::format(".{}.{}-{}.tmp", target.filename().string().substr(0, 200), ::getpid(), count++);
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t limit) {
  Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) fail("{}: cannot open: {}", path.string(), reason(errno));
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) fail("{}: cannot read: {}", path.string(), reason(errno));
  if (S_ISDIR(status.st_mode)) fail("{}: is a folder, expected a file", path.string());
  const auto too_large = [&] { fail("{}: larger than the limit of {} bytes", path.string(), limit); };
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > limit) too_large();

  // Read to the end, not to the stated size: pipes state none.
  std::string content;
  constexpr std::size_t kLeast = 1 << 16;
  std::size_t size = 0;
  content.resize(std::max(kLeast, static_cast<std::size_t>(status.st_size) + 1));
  while (true) {
    if (size == content.size()) content.resize(size * 2);
    const ssize_t got = ::read(in.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot read: {}", path.string(), reason(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > limit) too_large();
  }
  content.resize(size);
  return content;
}

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& writer) {
  if (path.filename().empty()) fail("{}: is not the name of a file", path.string());
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("{}: is a folder, expected a file", path.string());
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    fail("{}: cannot write: {}", path.string(), reason(errno));
  if (exists && !S_ISREG(status.st_mode)) {  // a pipe or a device cannot be replaced, only written to
    Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.get() < 0) fail("{}: cannot write: {}", path.string(), reason(errno));
    return write_to(out, path, writer);
  }

  // Through a link, what it points to is replaced, as a plain write would do.
  std::error_code ignored;
  const std::filesystem::path target = exists ? std::filesystem::canonical(path) : path;
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    fail("{}: the folder {} does not exist", path.string(), folder.string());
  }
  Temporary temporary{temporary_name(target)};
  Descriptor out(::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (out.get() < 0) {
    temporary.kept = true;
    fail("{}: cannot write into the folder {}: {}", path.string(), folder.string(), reason(errno));
  }
  if (exists) ::fchmod(out.get(), status.st_mode & 0777);  // a private file stays private
  write_to(out, path, writer);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) {
    fail("{}: cannot write: {}", path.string(), reason(errno));
  }
  temporary.kept = true;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_file(path, [&](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

}  // namespace undertext
