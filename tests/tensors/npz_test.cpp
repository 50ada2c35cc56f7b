#include "tensors/npz.h"

#include <ATen/ATen.h>

#include "base/temporary_folder.h"
#include "tensors/messages.h"
#include "tensors/read_tensors.h"
#include "tensors/write_tensors.h"
#include "tensors/zip_bytes.h"

namespace undertext {
namespace {

std::string floats(int count) {
  return npy_bytes(npy_dict("<f4", "(" + std::to_string(count) + ",)"),
                   std::string(static_cast<std::size_t>(count) * 4, '\0'));
}

TEST(ReadNpz, KeepsTheOrderOfTheArchive) {
  const std::string bytes = zip_bytes({{.name = "b/weight.npy", .content = floats(2)},
                                       {.name = "a.npy", .content = floats(3), .deflate = true}});
  const TensorFile file = read_tensors(keep_bytes(bytes), "x");
  EXPECT_EQ(file.format, "npz");
  EXPECT_TRUE(file.named);
  EXPECT_EQ(file.order, (std::vector<std::string>{"b/weight", "a"}));
  EXPECT_EQ(file.tensors.at("b/weight").numel(), 2);
  EXPECT_EQ(file.tensors.at("a").numel(), 3);
}

TEST(ReadNpz, NumpysOwnNamesAreNone) {
  std::vector<ZipPart> parts;
  for (const char* name : {"arr_0.npy", "arr_1.npy", "arr_10.npy", "arr_2.npy"}) {
    parts.push_back({.name = name, .content = floats(1)});
  }
  const TensorFile file = read_tensors(keep_bytes(zip_bytes(parts)), "x");
  EXPECT_FALSE(file.named);
  EXPECT_EQ(file.order, (std::vector<std::string>{"arr_0", "arr_1", "arr_2", "arr_10"}));
  parts.push_back({.name = "arr_03.npy", .content = floats(1)});
  EXPECT_TRUE(read_tensors(keep_bytes(zip_bytes(parts)), "x").named);
}

TEST(ReadNpz, OurOwnArchivesAreMapped) {
  const TemporaryFolder folder;
  TensorFile content;
  content.tensors = {{"a", at::ones({1000})}, {"b", at::ones({7}, at::kDouble)}};
  content.order = {"b", "a"};
  write_npz(folder / "x", content);
  const SharedBytes bytes = map_file(folder / "x");
  const TensorFile read = read_npz(ZipArchive(bytes, "x"), "x");
  EXPECT_EQ(read.order, content.order);
  for (const auto& [name, tensor] : read.tensors) {
    const char* data = static_cast<const char*>(tensor.data_ptr());
    EXPECT_TRUE(data >= bytes.data && data < bytes.data + bytes.size) << name;
    EXPECT_TRUE(tensor.equal(content.tensors.at(name)));
  }
}

TEST(WriteNpz, SaysThatNumpyHasNoBfloat16) {
  const TemporaryFolder folder;
  TensorFile content;
  content.tensors = {{"a", at::ones({2}, at::kBFloat16)}};
  content.order = {"a"};
  const std::string path = (folder / "x.npz").string();
  expect_one_clear_line(message_of([&] { write_tensors(path, content); }), path, "numpy has no BFloat16");
  EXPECT_TRUE(folder.empty());
}

TEST(HostileNpz, EntriesThatAreNoArrays) {
  const auto expect = [](const std::vector<ZipPart>& parts, const char* expected) {
    const std::string bytes = zip_bytes(parts);
    expect_one_clear_line(message_of([&] { read_tensors(keep_bytes(bytes), "x.npz"); }), "x.npz", expected);
  };
  expect({{.name = "a.txt", .content = "hello"}}, "is no array");
  expect({{.name = ".npy", .content = floats(1)}}, "is no array");
  expect({{.name = "a.npy", .content = "hello"}}, "does not begin as a numpy array");
  expect({{.name = "a.npy", .content = floats(1) + "x"}}, "need 4");
  expect({{.name = "a.npy", .content = npy_bytes(npy_dict("|O", "(1,)"), "\x80\x04N.")}}, "Python objects");
  expect({{.name = "a.npy", .content = npy_bytes(npy_dict("|O", "(1,)"), "\x80\x04N."), .deflate = true}},
         "Python objects");
  // What the header says is held against the size before anything is unpacked.
  expect({{.name = "a.npy", .content = floats(1) + std::string(1'000'000, '\0'), .deflate = true}}, "need 4");
  expect({{.name = "a.npy", .content = floats(1), .deflate = true, .crc = 1}}, "checksum");
}

// A small archive with stored and compressed arrays.
std::string small_archive() {
  return zip_bytes(
      {{.name = "a.npy", .content = floats(2)},
       {.name = "b.npy", .content = npy_bytes(npy_dict("|b1", "(2, 1)", true), std::string("\1\0", 2))},
       {.name = "c.npy", .content = floats(50), .deflate = true}});
}

TEST(DamagedNpz, TruncatedAtEveryByteIsRefused) {
  const std::string whole = small_archive();
  EXPECT_EQ(read_tensors(keep_bytes(whole), "x").tensors.size(), 3u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_tensors(keep_bytes(whole.substr(0, size)), "x"), UserError) << size;
  }
}

TEST(DamagedNpz, AnyBitFlippedIsRefusedOrStillConsistent) {
  const std::string whole = small_archive();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    message_of([&] { hash_of(read_tensors(keep_bytes(bytes), "x").tensors); });
  }
}

}  // namespace
}  // namespace undertext
