#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

// The message of the UserError that work throws; empty when it throws none.
template <typename Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

void expect_error(const std::string& message, const std::filesystem::path& path, const std::string& what) {
  EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
  EXPECT_NE(message.find(what), std::string::npos) << message;
}

// Root may write anywhere: tests of permissions run as nobody.
class AsNobody {
 public:
  AsNobody() : was_root_(geteuid() == 0) {
    if (was_root_ && seteuid(65534) != 0) throw std::runtime_error("cannot become nobody");
  }
  ~AsNobody() {
    if (was_root_ && seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool was_root_;
};

std::size_t entries_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  const std::string content("a\0b\r\n\xff", 6);
  std::ofstream(folder / "x", std::ios::binary) << content;
  EXPECT_EQ(read_file(folder / "x"), content);
  std::ofstream(folder / "empty");
  EXPECT_EQ(read_file(folder / "empty"), "");
  const std::string large(300'000, 'x');
  std::ofstream(folder / "large") << large;
  EXPECT_EQ(read_file(folder / "large"), large);
}

TEST(ReadFile, ReadsWhatStatesNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(ReadFile, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  expect_error(error_of([&] { read_file(folder / "none"); }), folder / "none", "No such file");
  expect_error(error_of([&] { read_file(folder.path()); }), folder.path(), "is a folder");
  std::ofstream(folder / "x") << "12345";
  EXPECT_EQ(read_file(folder / "x", 5), "12345");
  expect_error(error_of([&] { read_file(folder / "x", 4); }), folder / "x",
               "larger than the limit of 4 bytes");
  expect_error(error_of([&] { read_file("/dev/zero", 1000); }), "/dev/zero", "larger than the limit");
}

TEST(WriteFile, WritesAndReplaces) {
  const TemporaryFolder folder;
  write_file(folder / "x", "one");
  EXPECT_EQ(read_file(folder / "x"), "one");
  write_file(folder / "x", [](std::ostream& out) { out << "two " << 2; });
  EXPECT_EQ(read_file(folder / "x"), "two 2");
  EXPECT_EQ(entries_in(folder), 1u);
}

TEST(WriteFile, SmallAndLargePiecesKeepTheirOrder) {
  const TemporaryFolder folder;
  std::string expected;
  write_file(folder / "x", [&](std::ostream& out) {
    for (const std::size_t size : {1u, 65535u, 1u, 200'000u, 3u, 65536u, 65537u}) {
      const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
      out << piece;
      out.put('|');
      expected += piece + '|';
    }
  });
  EXPECT_EQ(read_file(folder / "x"), expected);
}

TEST(WriteFile, WorksInTheCurrentFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file("plain", "here");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder / "plain"), "here");
}

TEST(WriteFile, AFailingWriterLeavesTheOldContentAndNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  EXPECT_THROW(write_file(folder / "x",
                          [](std::ostream& out) {
                            out << std::string(1 << 20, 'n');
                            throw std::runtime_error("stop");
                          }),
               std::runtime_error);
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_EQ(entries_in(folder), 1u);
}

TEST(WriteFile, AFullDiskIsAnErrorWithItsReason) {
  for (const std::size_t size : {10u, 1u << 20}) {  // fails at the end, and in the middle
    const std::string message = error_of([&] { write_file("/dev/full", std::string(size, 'x')); });
    expect_error(message, "/dev/full", "No space left on device");
  }
}

TEST(WriteFile, AFullDiskLeavesNothingBehind) {
  const TemporaryFolder folder;
  write_file(folder / "old", "old");
  // A limit on file sizes fails a write halfway, as a disk that fills up would.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string fresh = error_of([&] { write_file(folder / "new", std::string(1 << 20, 'x')); });
  const std::string replaced = error_of([&] { write_file(folder / "old", std::string(1 << 20, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  expect_error(fresh, folder / "new", "File too large");
  expect_error(replaced, folder / "old", "File too large");
  EXPECT_EQ(read_file(folder / "old"), "old");
  EXPECT_EQ(entries_in(folder), 1u);
}

TEST(WriteFile, AMissingFolderIsNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "none" / "x";
  expect_error(error_of([&] { write_file(path, "x"); }), path,
               "the folder " + (folder / "none").string() + " does not exist");
  EXPECT_TRUE(folder.empty());
  write_file(folder / "file", "x");
  const std::filesystem::path below = folder / "file" / "x";
  expect_error(error_of([&] { write_file(below, "x"); }), below, "does not exist");
}

TEST(WriteFile, AFolderIsNotAFile) {
  const TemporaryFolder folder;
  expect_error(error_of([&] { write_file(folder.path(), "x"); }), folder.path(), "is a folder");
  const std::filesystem::path slash = folder.path().string() + "/new/";
  expect_error(error_of([&] { write_file(slash, "x"); }), slash, "not the name of a file");
}

TEST(WriteFile, AnUnwritableFolderOrFileIsAnError) {
  const TemporaryFolder folder;
  write_file(folder / "mine", "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  std::string in_folder, of_file;
  {
    const AsNobody nobody;
    in_folder = error_of([&] { write_file(folder / "x", "x"); });
    of_file = error_of([&] { write_file(folder / "mine", "new"); });
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  expect_error(in_folder, folder / "x", "Permission denied");
  expect_error(of_file, folder / "mine", "Permission denied");
  EXPECT_EQ(read_file(folder / "mine"), "old");
  EXPECT_EQ(entries_in(folder), 1u);
}

TEST(WriteFile, AReadOnlyFileInAWritableFolderIsKept) {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  std::filesystem::permissions(folder / "x", std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  std::string message;
  {
    const AsNobody nobody;
    message = error_of([&] { write_file(folder / "x", "new"); });
  }
  expect_error(message, folder / "x", "Permission denied");
  EXPECT_EQ(read_file(folder / "x"), "old");
}

TEST(WriteFile, APrivateFileStaysPrivate) {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  std::filesystem::permissions(folder / "x", std::filesystem::perms(0600));
  write_file(folder / "x", "new");
  EXPECT_EQ(std::filesystem::status(folder / "x").permissions(), std::filesystem::perms(0600));
}

TEST(WriteFile, FollowsALink) {
  const TemporaryFolder folder;
  write_file(folder / "real", "old");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real"), "new");
}

TEST(WriteFile, NeverMeetsAnOpenReader) {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  std::ifstream reader(folder / "x");
  write_file(folder / "x", "new");
  std::string content;
  reader >> content;
  EXPECT_EQ(content, "old");
}

}  // namespace
}  // namespace undertext
