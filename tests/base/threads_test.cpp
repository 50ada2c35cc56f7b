#include "base/threads.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <cblas.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace undertext {
namespace {

class Threads : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(0); }
};

INSTANTIATE_TEST_SUITE_P(Counts, Threads, ::testing::Values(1, 2, 3, 8), ::testing::PrintToStringParamName());

TEST_P(Threads, EveryIndexRunsOnce) {
  EXPECT_EQ(threads(), GetParam());
  for (const std::int64_t count : {0, 1, 2, 7, 1000, 100'000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    parallel_for(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
    for (const auto& run : runs) ASSERT_EQ(run, 1) << count;
  }
}

TEST_P(Threads, ManyShortCallsInARow) {
  std::atomic<std::int64_t> sum{0};
  for (int call = 0; call < 5000; ++call) parallel_for(3, [&](std::int64_t i) { sum += i; });
  EXPECT_EQ(sum, 5000 * 3);
}

TEST_P(Threads, TheLowestFailureReachesTheCaller) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(1000, [](std::int64_t i) {
        if (i == 100) std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (i >= 100 && i % 2 == 0) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "100");
    }
  }
  std::atomic<int> runs{0};  // and the pool works on
  parallel_for(10, [&](std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 10);
}

TEST_P(Threads, NestedCallsRunInTheCallingThread) {
  std::atomic<int> strangers{0}, runs{0};
  parallel_for(8, [&](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(8, [&](std::int64_t) {
      ++runs;
      strangers += std::this_thread::get_id() != outer;
    });
  });
  EXPECT_EQ(runs, 64);
  EXPECT_EQ(strangers, 0);
}

TEST_P(Threads, CallsFromSeveralThreadsAtOnce) {
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int call = 0; call < 100; ++call) parallel_for(10, [&](std::int64_t i) { sum += i; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 100 * 45);
}

TEST_P(Threads, TorchModesOfTheCallerHoldInside) {
  const at::NoGradGuard no_grad;
  std::atomic<int> recording{0};
  parallel_for(100, [&](std::int64_t) {
    recording += at::GradMode::is_enabled();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
  EXPECT_EQ(recording, 0);
}

TEST_P(Threads, LibrariesUseOneThreadPerCall) {
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

TEST(ThreadCount, BodiesRunSideBySide) {
  set_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  // Each body waits until the other has begun: only two threads can get through.
  parallel_for(2, [&](std::int64_t) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
      if (seen.size() == 2) return;
    }
  });
  EXPECT_EQ(seen.size(), 2u);
  set_threads(0);
}

TEST(ThreadCount, ZeroMeansAllCores) {
  set_threads(0);
  EXPECT_EQ(threads(), hardware_threads());
  EXPECT_GE(hardware_threads(), 1);
}

// Two callers with two threads each: all four bodies are under way at once, which one pool could not do.
TEST(ThreadShare, GivesEachCallerThreadsOfItsOwn) {
  set_threads(1);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  const auto meet = [&](std::int64_t) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
      if (seen.size() == 4) return;
    }
  };
  const auto caller = [&] {
    const ThreadShare share(2);
    parallel_for(2, meet);
  };
  std::thread one(caller), other(caller);
  one.join();
  other.join();
  EXPECT_EQ(seen.size(), 4u);
  set_threads(0);
}

TEST(ThreadShare, OfOneRunsInTheCallingThread) {
  set_threads(2);
  std::set<std::thread::id> seen;
  {
    const ThreadShare share(1);
    parallel_for(100, [&](std::int64_t) { seen.insert(std::this_thread::get_id()); });
  }
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
  set_threads(0);
}

TEST(ThreadsDeathTest, TheCountCannotChangeInsideABody) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(parallel_for(2, [](std::int64_t) { set_threads(1); }), "this is a bug");
}

}  // namespace
}  // namespace undertext
