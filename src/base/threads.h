// Thread control in one place. Our own code splits work into pieces whose number does not depend on the
// thread count; torch and the BLAS under it run one thread per call, so that results are the same bytes for
// any count.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace undertext {

// The cores that this process may use.
int hardware_threads();

// Sets the size of our pool, and torch and OpenBLAS to one thread per call. 0: all cores, which is also what
// holds before the first call. Not to be called inside parallel_for.
void set_threads(int count);
int threads();
// How many of them a parallel_for() that is called here would have: one inside its body.
int threads_here();

// For as long as it lives, parallel_for in the thread that made it has `count` threads to itself, and leaves
// the pool of the process to others. Made and destroyed in the same thread.
class ThreadShare {
 public:
  explicit ThreadShare(int count);
  ~ThreadShare();
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

// Calls body(i) for every i in [0, count), spread over the threads; returns when all are done. When bodies
// throw, the exception of the lowest such i reaches the caller, and bodies above it may not have run. The
// caller's torch modes (NoGradGuard) hold inside. Nested calls run in the calling thread.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace undertext
