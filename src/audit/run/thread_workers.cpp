#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "audit/run/cell_run.h"
#include "audit/run/workers.h"
#include "base/threads.h"

namespace undertext {
namespace {

class ThreadWorkers : public Workers {
 public:
  ThreadWorkers(int jobs, int threads_each, Sources& sources) : cells_(static_cast<std::size_t>(jobs)) {
    for (int place = 0; place < jobs; ++place)
      threads_.emplace_back([this, place, threads_each, &sources] { work(place, threads_each, sources); });
  }

  ~ThreadWorkers() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    started_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int places() const override { return static_cast<int>(cells_.size()); }

  void start(int place, const FrozenCell& cell) override {
    {
      const std::lock_guard lock(mutex_);
      cells_[static_cast<std::size_t>(place)] = cell;
    }
    started_.notify_all();
  }

  std::optional<FinishedCell> wait(std::chrono::microseconds most) override {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, most, [&] { return !finished_.empty(); })) return std::nullopt;
    FinishedCell first = std::move(finished_.front());
    finished_.pop_front();
    return first;
  }

 private:
  void work(int place, int threads_each, Sources& sources) {
    const ThreadShare share(threads_each);
    CellRunner runner(sources);
    while (true) {
      FrozenCell cell;
      {
        std::unique_lock lock(mutex_);
        auto& mine = cells_[static_cast<std::size_t>(place)];
        started_.wait(lock, [&] { return stopping_ || mine.has_value(); });
        if (stopping_) return;
        cell = std::move(*mine);
        mine.reset();
      }
      CellOutcome outcome = runner.run(cell);
      {
        const std::lock_guard lock(mutex_);
        finished_.push_back({place, std::move(outcome)});
      }
      ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable started_, ended_;
  std::vector<std::optional<FrozenCell>> cells_;  // by place: what is to run next
  std::deque<FinishedCell> finished_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Workers> thread_workers(int jobs, int threads_each, Sources& sources) {
  return std::make_unique<ThreadWorkers>(jobs, threads_each, sources);
}

}  // namespace undertext
