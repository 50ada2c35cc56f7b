// Runs the built program as a user would, in a folder with a small model.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace undertext {

struct Outcome {
  int code = -1;  // exit code; 128 + signal where a signal ended it
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

// Any program of the path or by its path, and the built one. environment: added to the test's own.
Outcome run_program(const std::vector<std::string>& words,
                    const std::map<std::string, std::string>& environment = {});
Outcome undertext_run(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment = {});

// The built program, started and left alone.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments);
  ~RunningProgram();  // kills it where it still runs
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void signal(int number) const;
  Outcome wait();  // until it ends

 private:
  std::filesystem::path folder_;  // its stdout and stderr
  int process_ = -1;
};

bool on_path(const std::string& program);

// A fresh folder with a model ("model"), messages for it ("texts.txt") and whatever a test adds.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return root_ / name; }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const;  // returns its path
  std::string read(const std::string& name) const;

  // Every file below, with its size and last change: the same before and after when nothing was left behind.
  std::map<std::string, std::string> listing() const;

  // client on texts.txt; `more` flags at the end. Returns the update's path.
  std::string make_update(const std::string& name, const std::vector<std::string>& more = {}) const;

 private:
  std::filesystem::path root_;
};

// A model folder of 40 words, the same for the same seed.
void write_tiny_model(const std::filesystem::path& folder, std::uint64_t seed);

bool one_line(const std::string& text);

}  // namespace undertext
