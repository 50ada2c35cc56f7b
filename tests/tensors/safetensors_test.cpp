#include "tensors/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "tensors/dtypes.h"
#include "tensors/tensor_bytes.h"

namespace undertext {
namespace {

std::string error_of_reading(const std::filesystem::path& path) {
  try {
    read_safetensors(path);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

class RoundTrip : public ::testing::TestWithParam<at::ScalarType> {};

INSTANTIATE_TEST_SUITE_P(Types, RoundTrip,
                         ::testing::Values(at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                           at::kInt, at::kShort, at::kChar, at::kByte, at::kBool),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(RoundTrip, KeepsValuesShapesAndType) {
  const TemporaryFolder folder;
  NamedTensors tensors;
  tensors["scalar"] = at::ones({}, GetParam());
  tensors["vector"] = at::arange(7, at::kFloat).to(GetParam());
  tensors["cube"] = (at::arange(24, at::kFloat) - 5).to(GetParam()).reshape({2, 3, 4});
  tensors["empty"] = at::empty({3, 0, 2}, GetParam());
  tensors["slice"] = tensors["cube"].transpose(0, 2);
  write_safetensors(folder / "x", tensors, {{"kind", "test"}, {"grün", "\"quoted\"\n"}});

  const TensorFile file = read_safetensors(folder / "x");
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& read = file.tensors.at(name);
    EXPECT_EQ(read.scalar_type(), GetParam());
    EXPECT_EQ(read.sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(read.equal(tensor)) << name;
    EXPECT_TRUE(read.is_contiguous());
  }
  EXPECT_EQ(file.metadata, (Metadata{{"kind", "test"}, {"grün", "\"quoted\"\n"}}));
}

TEST(WriteSafetensors, AlignsTheDataForEveryType) {
  const TemporaryFolder folder;
  NamedTensors tensors;
  tensors["a"] = at::ones({3}, at::kBool);
  tensors["b"] = at::ones({3}, at::kHalf);
  tensors["c"] = at::ones({3}, at::kDouble);
  tensors["d"] = at::ones({3}, at::kFloat);
  for (int length = 0; length < 9; ++length) {
    write_safetensors(folder / "x", tensors, {{"pad", std::string(static_cast<std::size_t>(length), 'x')}});
    const std::string bytes = read_file(folder / "x");
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    EXPECT_EQ(header % 8, 0u);
    for (const auto& [name, tensor] : read_safetensors(folder / "x").tensors) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % tensor.element_size(), 0u) << name;
      EXPECT_TRUE(tensor.equal(tensors.at(name)));
    }
  }
}

TEST(WriteSafetensors, SameTensorsSameBytes) {
  const TemporaryFolder folder;
  const NamedTensors tensors{{"b", at::ones({2})}, {"a", at::zeros({3}, at::kLong)}};
  write_safetensors(folder / "x", tensors, {{"k", "v"}});
  write_safetensors(folder / "y", tensors, {{"k", "v"}});
  EXPECT_EQ(read_file(folder / "x"), read_file(folder / "y"));
}

TEST(WriteSafetensors, WritesTheFormatItself) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"w", at::full({2}, 1.0f)}});
  std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(read_file(folder / "x"), file_bytes(header, std::string("\0\0\x80\x3f\0\0\x80\x3f", 8)));
}

TEST(WriteSafetensors, NoTensorsAtAll) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {});
  const TensorFile file = read_safetensors(folder / "x");
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_TRUE(file.metadata.empty());
}

TEST(WriteSafetensors, RefusesWhatTheFormatCannotSay) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_safetensors(folder / "x", {{"c", at::ones({1}, at::kComplexFloat)}}), UserError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"\xff", at::ones({1})}}), UserError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"__metadata__", at::ones({1})}}), UserError);
  EXPECT_THROW(write_safetensors(folder / "x", {}, {{"k", "\xc3("}}), UserError);
  EXPECT_THROW(write_safetensors("/dev/full", {{"w", at::ones({1000})}}), UserError);
  EXPECT_THROW(write_safetensors(folder / "none" / "x", {{"w", at::ones({1})}}), UserError);
  EXPECT_TRUE(folder.empty());
}

TEST(WriteSafetensors, ATensorThatRequiresGradIsWritten) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"w", at::ones({2}).requires_grad_(true)}});
  EXPECT_FALSE(read_safetensors(folder / "x").tensors.at("w").requires_grad());
}

TEST(ReadSafetensors, ChangesInPlaceNeverReachTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"w", at::ones({1000})}});
  const std::string before = read_file(folder / "x");
  {
    const TensorFile file = read_safetensors(folder / "x");
    file.tensors.at("w").fill_(7);
    EXPECT_EQ(file.tensors.at("w")[999].item<float>(), 7);
  }
  EXPECT_EQ(read_file(folder / "x"), before);
}

TEST(ReadSafetensors, TensorsOutliveTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"v", at::zeros({10})}, {"w", at::arange(1000)}});
  at::Tensor kept = read_safetensors(folder / "x").tensors.at("w");
  std::filesystem::remove(folder / "x");
  EXPECT_TRUE(kept.equal(at::arange(1000)));
}

TEST(ReadSafetensors, AFileMayBeReplacedWhileItIsRead) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"w", at::arange(1000)}});
  const TensorFile file = read_safetensors(folder / "x");
  write_safetensors(folder / "x", {{"w", file.tensors.at("w") + 1}});
  EXPECT_TRUE(file.tensors.at("w").equal(at::arange(1000)));
  EXPECT_TRUE(read_safetensors(folder / "x").tensors.at("w").equal(at::arange(1, 1001)));
}

TEST(ReadSafetensors, MisalignedTensorsAreReadRight) {
  const TemporaryFolder folder;
  // One byte in front of everything else: no wider tensor is aligned. The header's own length adds to that.
  for (std::size_t padding = 0; padding < 8; ++padding) {
    const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]},)"
                               R"("c":{"dtype":"I16","shape":[2],"data_offsets":[9,13]},)"
                               R"("d":{"dtype":"F32","shape":[1,1],"data_offsets":[13,17]}})" +
                               std::string(padding, ' ');
    const std::string data("\x07\0\0\0\0\0\0\xf8\x3f\x01\0\xff\xff\0\0\x20\x40", 17);
    write_file(folder / "x", file_bytes(header, data));
    const TensorFile file = read_safetensors(folder / "x");
    EXPECT_EQ(file.tensors.at("a")[0].item<int>(), 7);
    EXPECT_EQ(file.tensors.at("b")[0].item<double>(), 1.5);
    EXPECT_EQ(file.tensors.at("c")[0].item<int>(), 1);
    EXPECT_EQ(file.tensors.at("c")[1].item<int>(), -1);
    EXPECT_EQ(file.tensors.at("d")[0][0].item<float>(), 2.5);
    for (const auto& [name, tensor] : file.tensors) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % tensor.element_size(), 0u) << name;
    }
  }
}

TEST(ReadSafetensors, AlignedTensorsAreNotCopied) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {{"a", at::ones({100})}, {"b", at::ones({50})}});
  const TensorFile file = read_safetensors(folder / "x");
  EXPECT_EQ(file.tensors.at("a").data_ptr<float>() + 100, file.tensors.at("b").data_ptr<float>());
}

TEST(ReadSafetensors, OtherKindsOfPathsAreRefused) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of_reading(folder / "none").find("No such file"), std::string::npos);
  EXPECT_NE(error_of_reading(folder.path()).find("not a regular file"), std::string::npos);
  EXPECT_NE(error_of_reading("/dev/zero").find("not a regular file"), std::string::npos);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of_reading(folder / "pipe").find("not a regular file"), std::string::npos);
}

TEST(ReadSafetensors, ReadsARealModel) {
  const std::filesystem::path path =
      std::filesystem::path(UNDERTEXT_SHARED) / "data/gboard/model.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared folder beside the checkout";
  const TensorFile file = read_safetensors(path);
  EXPECT_FALSE(file.tensors.empty());
  check_finite(file.tensors, path);
}

}  // namespace
}  // namespace undertext
