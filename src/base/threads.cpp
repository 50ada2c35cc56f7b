#include "base/threads.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/blas_kernels.h"
#include "base/error.h"

namespace undertext {
namespace {

// True while this thread runs a body of parallel_for.
thread_local bool inside_body = false;

// One call of parallel_for. Indices are claimed in rising order; the call is over when all are done.
struct Job {
  Job(std::int64_t items, const std::function<void(std::int64_t)>& work) : count(items), body(work) {}

  void run() {
    inside_body = true;
    for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      if (i < first_failure.load()) run_one(i);
      if (done.fetch_add(1) + 1 == count) done.notify_all();
    }
    inside_body = false;
  }

  void run_one(std::int64_t i) {
    try {
      body(i);
    } catch (...) {
      // Every index below a failing one has been claimed already and will run, so keeping the lowest makes
      // the reported failure the same for any number of threads.
      const std::lock_guard lock(mutex);
      if (i < first_failure.load()) {
        first_failure = i;
        failure = std::current_exception();
      }
    }
  }

  const std::int64_t count;
  const std::function<void(std::int64_t)>& body;  // alive while an index is unfinished
  const at::ThreadLocalState caller_state;        // NoGradGuard and the like hold inside bodies too
  std::atomic<std::int64_t> next{0}, done{0};
  std::atomic<std::int64_t> first_failure{std::numeric_limits<std::int64_t>::max()};
  std::mutex mutex;
  std::exception_ptr failure;
};

class Pool {
 public:
  explicit Pool(int size) {
    for (int i = 1; i < size; ++i) workers_.emplace_back([this] { work(); });
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    const auto job = std::make_shared<Job>(count, body);
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      ++generation_;
    }
    wake_.notify_all();
    job->run();
    for (std::int64_t done = job->done; done < count; done = job->done) job->done.wait(done);
    if (job->failure) std::rethrow_exception(job->failure);
  }

 private:
  void work() {
    std::uint64_t seen = 0;
    while (true) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
        job = job_;
      }
      const at::ThreadLocalStateGuard guard(job->caller_state);
      job->run();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Job> job_;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

// The pool of the ThreadShare that this thread holds.
thread_local Pool* own_pool = nullptr;

struct Control {
  std::mutex in_use;  // held while a parallel_for has the pool, or while it is replaced
  std::unique_ptr<Pool> pool;
  std::atomic<int> size{0};
};

void resize(Control& control, int count) {
  if (count <= 0) count = hardware_threads();
  // Torch splits a reduction by its thread count, and so does OpenBLAS a product: with one thread per call in
  // both, the bytes of a result cannot depend on how many threads there are.
  at::set_num_threads(1);
  openblas_set_num_threads(1);
  choose_blas_kernels();
  control.pool = std::make_unique<Pool>(count);
  control.size = count;
}

Control& control() {
  static Control instance;
  static std::once_flag once;
  std::call_once(once, [] { resize(instance, 0); });
  return instance;
}

}  // namespace

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void set_threads(int count) {
  UNDERTEXT_CHECK(!inside_body);
  Control& c = control();
  const std::lock_guard lock(c.in_use);
  resize(c, count);
}

int threads() {
  return control().size;
}

int threads_here() {
  if (inside_body) return 1;
  return own_pool != nullptr ? own_pool->size() : threads();
}

struct ThreadShare::Threads {
  explicit Threads(int count) : pool(count) {}
  Pool pool;
};

ThreadShare::ThreadShare(int count) {
  UNDERTEXT_CHECK(count >= 1 && own_pool == nullptr && !inside_body);
  control();  // torch and BLAS are set before the first body runs
  threads_ = std::make_unique<Threads>(count);
  own_pool = &threads_->pool;
}

ThreadShare::~ThreadShare() {
  own_pool = nullptr;
}

void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (count <= 0) return;
  Control& c = control();
  if (own_pool != nullptr && count > 1 && !inside_body) return own_pool->run(count, body);
  if (own_pool == nullptr && count > 1 && !inside_body) {
    const std::unique_lock lock(c.in_use, std::try_to_lock);
    // Another thread of the program may have the pool: then this one works alone.
    if (lock.owns_lock() && c.pool->size() > 1) return c.pool->run(count, body);
  }
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace undertext
