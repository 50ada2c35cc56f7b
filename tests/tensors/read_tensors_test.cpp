#include "tensors/read_tensors.h"

#include <ATen/ATen.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "tensors/dtypes.h"
#include "tensors/messages.h"
#include "tensors/safetensors.h"
#include "tensors/write_tensors.h"
#include "tensors/zip_bytes.h"

namespace undertext {
namespace {

TensorFile two_tensors() {
  TensorFile content;
  content.tensors = {{"b", at::arange(6, at::kFloat).reshape({2, 3})}, {"a", at::ones({2})}};
  content.order = {"b", "a"};
  return content;
}

void expect_same(const NamedTensors& read, const NamedTensors& wanted) {
  ASSERT_EQ(read.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    ASSERT_TRUE(read.contains(name)) << name;
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(read.at(name).equal(tensor)) << name;
  }
}

struct Written {
  const char* ending;
  const char* format;
};

class EveryFormat : public ::testing::TestWithParam<Written> {};

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat,
                         ::testing::Values(Written{".safetensors", "safetensors"}, Written{".npz", "npz"},
                                           Written{".pt", "torch"}, Written{".pth", "torch"},
                                           Written{".bin", "torch"}),
                         [](const auto& test) { return std::string(test.param.ending).substr(1); });

TEST_P(EveryFormat, ReadsWhatItWroteUnderAnyName) {
  const TemporaryFolder folder;
  TensorFile content;
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kHalf, at::kLong, at::kInt, at::kShort,
                                     at::kChar, at::kByte, at::kBool}) {
    const std::string name(name_of(dtype));
    content.tensors[name + ".cube"] = (at::arange(24, at::kFloat) - 5).to(dtype).reshape({2, 3, 4});
    content.tensors[name + ".slice"] = content.tensors[name + ".cube"].transpose(0, 2);
    content.tensors[name + ".scalar"] = at::ones({}, dtype);
    content.tensors[name + ".empty"] = at::empty({3, 0, 2}, dtype);
  }
  content.tensors["grün \"/ö"] = at::ones({1}).requires_grad_(true);
  for (const auto& [name, tensor] : content.tensors) content.order.insert(content.order.begin(), name);
  write_tensors(folder / (std::string("x") + GetParam().ending), content);
  std::filesystem::rename(folder / (std::string("x") + GetParam().ending), folder / "x.txt");
  const TensorFile read = read_tensors(folder / "x.txt");
  EXPECT_EQ(read.format, GetParam().format);
  EXPECT_TRUE(read.named);
  expect_same(read.tensors, content.tensors);
  if (read.format != "safetensors") {
    EXPECT_EQ(read.order, content.order);
  }
}

TEST_P(EveryFormat, KeepsTheOrderOfTensorsWithoutNames) {
  const TemporaryFolder folder;
  TensorFile content;
  for (std::size_t i = 0; i < 12; ++i) {
    content.tensors[place_name(i)] = at::ones({1}, i % 2 == 0 ? at::kFloat : at::kDouble);
    content.order.push_back(place_name(i));
  }
  const std::filesystem::path path = folder / (std::string("x") + GetParam().ending);
  write_tensors(path, content);
  const TensorFile read = read_tensors(path);
  EXPECT_FALSE(read.named);
  EXPECT_EQ(read.order, content.order);
}

TEST_P(EveryFormat, SameTensorsSameBytesAndNothingHalfWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / (std::string("x") + GetParam().ending);
  write_tensors(path, two_tensors());
  const std::string once = read_file(path);
  write_tensors(path, two_tensors());
  EXPECT_EQ(read_file(path), once);
  TensorFile bad;
  bad.tensors = {{"c", at::ones({1}, at::kComplexFloat)}};
  bad.order = {"c"};
  EXPECT_THROW(write_tensors(path, bad), UserError);
  bad.tensors = {{"\xff", at::ones({1})}};
  bad.order = {"\xff"};
  EXPECT_THROW(write_tensors(path, bad), UserError);
  EXPECT_EQ(read_file(path), once);
}

TEST(ReadTensors, SafetensorsKeepTheirOrderAndTheirMetadata) {
  const TemporaryFolder folder;
  TensorFile content = two_tensors();
  content.metadata = {{"kind", "test"}};
  write_tensors(folder / "x.safetensors", content);
  const TensorFile read = read_tensors(folder / "x.safetensors");
  EXPECT_EQ(read.order, content.order);
  EXPECT_EQ(read.metadata, content.metadata);
}

TEST(ReadTensors, AFolderStandsForItsModel) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] { read_tensors(folder.path()); }).find("a folder without a model"),
            std::string::npos);
  // From the least preferred on.
  write_tensors(folder / "model.npz", two_tensors());
  EXPECT_EQ(read_tensors(folder.path()).format, "npz");
  write_tensors(folder / "shard.bin", two_tensors());
  write_file(folder / "pytorch_model.bin.index.json",
             R"({"weight_map": {"a": "shard.bin", "b": "shard.bin"}})");
  EXPECT_EQ(read_tensors(folder.path()).format, "torch");
  write_tensors(folder / "pytorch_model.bin", two_tensors());
  EXPECT_EQ(read_tensors(folder.path()).format, "torch");
  write_tensors(folder / "shard.safetensors", two_tensors());
  write_file(folder / "model.safetensors.index.json",
             R"({"weight_map": {"a": "shard.safetensors", "b": "shard.safetensors"}})");
  EXPECT_EQ(read_tensors(folder.path()).format, "safetensors");
  write_safetensors(folder / "model.safetensors", {{"only", at::ones({1})}});
  EXPECT_EQ(read_tensors(folder.path()).order, std::vector<std::string>{"only"});
}

TEST(ReadTensors, ShardsTogetherAreTheModel) {
  const TemporaryFolder folder;
  write_safetensors(folder / "1.safetensors", {{"a", at::ones({2})}, {"extra", at::ones({1})}});
  write_safetensors(folder / "2.safetensors", {{"b", at::zeros({3})}});
  write_file(folder / "index.json", R"({"metadata": {"total_size": 20, "x": [[1], {"weight_map": 5}]},)"
                                    R"( "weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})");
  const TensorFile file = read_tensors(folder / "index.json");
  expect_same(file.tensors, {{"a", at::ones({2})}, {"b", at::zeros({3})}, {"extra", at::ones({1})}});
  EXPECT_EQ(file.order, (std::vector<std::string>{"a", "extra", "b"}));
}

TEST(ReadTensors, IndexesThatLie) {
  const TemporaryFolder folder;
  write_safetensors(folder / "1.safetensors", {{"a", at::ones({2})}});
  write_safetensors(folder / "2.safetensors", {{"a", at::ones({2})}, {"b", at::ones({2})}});
  const std::string path = (folder / "index.json").string();
  const auto expect = [&](const std::string& json, const char* expected) {
    write_file(path, json);
    expect_one_clear_line(message_of([&] { read_tensors(std::filesystem::path(path)); }), path, expected);
    std::filesystem::remove(path);
  };
  expect("{}", "has no \"weight_map\"");
  expect(R"({"weight_map")", "not valid JSON");
  expect(R"({"weight_map": {"a": "1.safetensors"}} x)", "not valid JSON");
  expect(std::string("{\"weight_map\": {}}\0x", 20), "not valid JSON");
  expect(R"({"weight_map": {}, "weight_map": {}})", "\"weight_map\" twice");
  expect(R"({"weight_map": []})", "is a list, expected an object");
  expect(R"({"weight_map": "a"})", "is a string, expected an object");
  expect(R"({"weight_map": {"a": 1}})", "a number for the tensor \"a\"");
  expect(R"({"weight_map": {"a": {}}})", "an object for the tensor \"a\"");
  expect(R"({"weight_map": {"a": ["1.safetensors"]}})", "a list for the tensor \"a\"");
  expect(R"({"weight_map": {"a": "1.safetensors", "a": "2.safetensors"}})", "\"a\" twice");
  for (const char* name :
       {"../1.safetensors", "/etc/passwd", "x/1.safetensors", "..", ".", "", "..\\\\1", "1\\u0000"}) {
    expect(fmt::format(R"({{"weight_map": {{"a": "{}"}}}})", name), "the name of a file beside the index");
  }
  expect(R"({"weight_map": {"b": "1.safetensors"}})", "\"b\" is not in \"1.safetensors\"");
  expect(R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})",
         "\"a\" is in \"1.safetensors\" and in");
  expect("{\"x\": " + std::string(100'000, '['), "not valid JSON");
  // The shard is named, not the index.
  write_file(path, R"({"weight_map": {"a": "none.safetensors"}})");
  EXPECT_NE(
      message_of([&] { read_tensors(std::filesystem::path(path)); }).find("none.safetensors: cannot open"),
      std::string::npos);
  write_file(folder / "other.json", R"({"weight_map": {"a": "index.json"}})");
  EXPECT_NE(
      message_of([&] { read_tensors(folder / "other.json"); }).find("holds no tensors that can be read"),
      std::string::npos);
}

TEST(ReadTensors, OtherFilesAreToldApart) {
  const auto expect = [](const std::string& bytes, const char* expected) {
    expect_one_clear_line(message_of([&] { read_tensors(keep_bytes(bytes), "x"); }), "x", expected);
  };
  expect("", "holds no tensors");
  expect("hello", "holds no tensors");
  expect(
      "\x80\x02\x8a\nl\xfc\x9c"
      "F\xf9 j\xa8P\x19.",
      "before torch 1.6");
  expect("\x80\x04\x95", "a bare pickle");
  expect("\x89HDF\r\n\x1a\n", "HDF5");
  expect("GGUF\3", "GGUF");
  expect("\x1f\x8b\x08", "gzip");
  expect("version https://git-lfs.github.com/spec/v1\n", "git LFS");
  expect(zip_bytes({}), "without arrays");
  expect(zip_bytes({{.name = "word/document.xml", .content = "<xml/>"}}), "is no array");
  expect_one_clear_line(message_of([] { read_tensors(keep_bytes("1234"), "x.safetensors"); }),
                        "x.safetensors", "only 4 bytes long");
}

TEST(ReadTensors, AHeaderOf123BytesIsNoIndex) {
  // Its length begins with the byte of a brace.
  std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize(123, ' ');
  const TemporaryFolder folder;
  write_file(folder / "x", little_endian(header.size(), 8) + header + "1234");
  EXPECT_EQ(read_tensors(folder / "x").format, "safetensors");
}

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(UNDERTEXT_SHARED) / "golden" / name;
}

TEST(ReadTensors, OneModelInEveryFormat) {
  if (!std::filesystem::exists(golden("gpt2-tiny"))) GTEST_SKIP() << "no shared folder beside the checkout";
  const NamedTensors wanted = read_tensors(golden("gpt2-tiny/model.safetensors")).tensors;
  const TensorFile torch = read_tensors(golden("gpt2-tiny/pytorch_model.bin"));
  const TensorFile npz = read_tensors(golden("gpt2-tiny/model.npz"));
  expect_same(torch.tensors, wanted);
  expect_same(npz.tensors, wanted);
  EXPECT_EQ(torch.order, npz.order);
  EXPECT_EQ(torch.format, "torch");
  EXPECT_EQ(npz.format, "npz");
  EXPECT_FALSE(read_tensors(golden("gpt2-tiny/flower_before.npz")).named);
  EXPECT_EQ(read_tensors(golden("gpt2-tiny")).format, "safetensors");
  expect_same(read_tensors(golden("bert-tiny/pytorch_model.bin")).tensors,
              read_tensors(golden("bert-tiny")).tensors);
}

}  // namespace
}  // namespace undertext
