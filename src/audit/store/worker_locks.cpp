#include "audit/store/worker_locks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace undertext {
namespace {

struct flock one_byte(std::int64_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;  // l_pid must be 0 for locks of an open file
}

}  // namespace

WorkerLocks::WorkerLocks(const std::filesystem::path& file)
    : name_(file.string()), descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("{}: cannot write: {}", name_, std::strerror(errno));
}

WorkerLocks::~WorkerLocks() {
  ::close(descriptor_);
}

bool WorkerLocks::take(std::int64_t byte) {
  struct flock lock = one_byte(byte, F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail("{}: cannot lock: {}", name_, std::strerror(errno));
  return false;
}

void WorkerLocks::release(std::int64_t byte) {
  struct flock lock = one_byte(byte, F_UNLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
}

bool WorkerLocks::taken_by_another(std::int64_t byte) const {
  struct flock lock = one_byte(byte, F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0)
    fail("{}: cannot ask for locks: {}", name_, std::strerror(errno));
  return lock.l_type != F_UNLCK;
}

Turn::Turn(WorkerLocks& locks, std::int64_t byte, const std::string& name, std::chrono::milliseconds patience)
    : locks_(locks), byte_(byte) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!locks_.take(byte_)) {
    if (std::chrono::steady_clock::now() >= end)
      fail("{}: other processes have kept it busy for {} s", name,
           std::chrono::duration<double>(patience).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Turn::~Turn() {
  locks_.release(byte_);
}

}  // namespace undertext
