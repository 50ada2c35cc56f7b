// A process of its own, which says something and may be killed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace undertext {

class Child {
 public:
  using Say = std::function<void(const std::string&)>;

  // Runs work in the child; what it throws is the last thing that it says.
  explicit Child(const std::function<void(const Say&)>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      const Say say = [&](const std::string& text) {
        if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
      };
      try {
        work(say);
      } catch (const std::exception& error) {
        say(error.what());
      }
      _exit(0);
    }
    close(ends[1]);
    hears_ = ends[0];
  }
  ~Child() {
    kill();
    close(hears_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // What it has said, waiting for at least one byte; empty when it has ended.
  std::string hear() {
    char buffer[4096];
    const ssize_t size = read(hears_, buffer, sizeof buffer);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  std::string hear_all() {
    std::string all;
    for (std::string part = hear(); !part.empty(); part = hear()) all += part;
    return all;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int hears_ = -1;
};

}  // namespace undertext
