#include "program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "models/cifg_lstm.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder() {
  std::string name = (fs::temp_directory_path() / "undertext-cli-XXXXXX").string();
  return mkdtemp(name.data());
}

// Starts a program with its output in two files of the folder.
pid_t start(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment,
            const fs::path& folder) {
  const std::string out = folder / "out", err = folder / "err";
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Waits, reads what was written, and removes the folder.
Outcome ended(pid_t child, const fs::path& folder) {
  int status = 0;
  waitpid(child, &status, 0);
  Outcome run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_file(folder / "out");
  run.err = read_file(folder / "err");
  fs::remove_all(folder);
  return run;
}

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) : folder_(fresh_folder()) {
  std::vector<std::string> words = {UNDERTEXT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  process_ = start(words, {}, folder_);
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    wait();
  }
}

void RunningProgram::signal(int number) const {
  kill(process_, number);
}

Outcome RunningProgram::wait() {
  Outcome run = ended(process_, folder_);
  process_ = -1;
  return run;
}

Outcome run_program(const std::vector<std::string>& words,
                    const std::map<std::string, std::string>& environment) {
  const fs::path folder = fresh_folder();
  return ended(start(words, environment, folder), folder);
}

Outcome undertext_run(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = {UNDERTEXT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words, environment);
}

bool on_path(const std::string& program) {
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

void write_tiny_model(const fs::path& folder, std::uint64_t seed) {
  std::vector<std::string> words = {"</S>", "<S>", "<UNK>", "I",    "you", "the",
                                    "to",   "at",  "see",   "home", "is"};
  while (words.size() < 40) words.push_back("word" + std::to_string(words.size()));
  const auto model = CifgLstm::random({.vocabulary = 40, .embedding = 12, .units = 20}, Seed(seed));
  fs::create_directories(folder);
  model->save(folder);
  Vocabulary(words).save(folder);
}

Workplace::Workplace() : root_(fresh_folder()) {
  write_tiny_model(root_ / "model", 1);
  write("texts.txt", "see you at home\nI see the word11\nword12 is at the word13\nsee you at home\n");
}

Workplace::~Workplace() {
  fs::remove_all(root_);
}

std::string Workplace::write(const std::string& name, const std::string& content) const {
  write_file(root_ / name, content);
  return path(name);
}

std::string Workplace::read(const std::string& name) const {
  return read_file(root_ / name);
}

std::map<std::string, std::string> Workplace::listing() const {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    std::string facts = "folder";
    if (entry.is_regular_file())
      facts = std::to_string(entry.file_size()) + " " +
              std::to_string(entry.last_write_time().time_since_epoch().count());
    files[entry.path().string()] = facts;
  }
  return files;
}

std::string Workplace::make_update(const std::string& name, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"client",          "--model", path("model"), "--texts",
                                        path("texts.txt"), "--out",   path(name)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome run = undertext_run(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return path(name);
}

bool one_line(const std::string& text) {
  return text.find('\n') == text.size() - 1 && text.starts_with("undertext: ");
}

}  // namespace undertext
