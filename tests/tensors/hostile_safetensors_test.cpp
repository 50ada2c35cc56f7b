// Files that lie. Each gets one line that names the file and the lie; none crashes the reader.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "tensors/safetensors.h"
#include "tensors/tensor_bytes.h"

namespace undertext {
namespace {

struct Lie {
  const char* name;
  std::string bytes;
  const char* expected;  // part of the message
};

std::ostream& operator<<(std::ostream& out, const Lie& lie) {
  return out << lie.name;
}

// The fields of one tensor "w".
std::string one(const std::string& fields) {
  return "{\"w\":{" + fields + "}}";
}

const std::string kEight(8, '\1');

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string many_tensors(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i) {
    header += (i ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  return header + "}";
}

std::string many_metadata(int count) {
  std::string header = R"({"__metadata__":{)";
  for (int i = 0; i < count; ++i) header += (i ? ",\"" : "\"") + std::to_string(i) + R"(":"")";
  return header + "}}";
}

std::vector<Lie> lies() {
  const std::string f32 = R"("dtype":"F32",)";
  const std::string rest = R"("shape":[2],"data_offsets":[0,8])";
  return {
      {"empty_file", "", "only 0 bytes long"},
      {"seven_bytes", "1234567", "only 7 bytes long"},
      {"no_header", length_field(0), "does not begin with '{'"},
      {"header_beyond_the_file", length_field(100) + "{}", "a header of 100 bytes in a file of 10"},
      {"header_over_the_limit", length_field(100'000'001) + "{}", "expected at most 100000000"},
      {"header_of_all_ones", length_field(~std::uint64_t{0}) + "{}", "expected at most"},
      {"header_length_negative", length_field(std::uint64_t{1} << 63) + "{}", "expected at most"},
      {"not_json", file_bytes("{hello}"), "not valid JSON"},
      {"pickle", "\x80\x02}q\x01(X\x05\x00\x00\x00", "expected at most"},
      {"header_is_a_list", file_bytes("[]"), "does not begin with '{'"},
      {"header_begins_with_space", file_bytes(" {}"), "does not begin with '{'"},
      {"header_with_byte_order_mark", file_bytes("\xef\xbb\xbf{}"), "does not begin with '{'"},
      {"json_unfinished", file_bytes(R"({"w":{"dtype":"F32")"), "not valid JSON"},
      {"json_with_more_after_it", file_bytes("{}{}"), "not valid JSON"},
      {"json_with_nul_after_it", file_bytes(std::string("{}\0", 3)), "not valid JSON"},
      {"tensors_hidden_behind_a_nul", file_bytes(std::string("{}\0,\"w\":1}", 10)), "not valid JSON"},
      {"json_with_comment", file_bytes("{/**/}"), "not valid JSON"},
      {"name_not_utf8", file_bytes("{\"\xff\xfe\":{" + f32 + rest + "}}", kEight), "not valid JSON in UTF-8"},
      {"name_overlong_utf8", file_bytes("{\"\xc0\xaf\":{" + f32 + rest + "}}", kEight), "not valid JSON"},
      {"name_half_a_surrogate", file_bytes("{\"\\ud800\":{" + f32 + rest + "}}", kEight), "not valid JSON"},
      {"metadata_not_utf8", file_bytes("{\"__metadata__\":{\"k\":\"\xc3(\"}}"), "not valid JSON in UTF-8"},
      {"lists_a_million_deep", file_bytes("{\"w\":" + std::string(1'000'000, '[')), "expected an object"},
      {"objects_a_million_deep", file_bytes(repeat("{\"w\":", 1'000'000)), "unknown field"},
      {"shape_a_million_deep", file_bytes(one(f32 + "\"shape\":" + std::string(1'000'000, '['))),
       "a list in its"},
      {"tensor_is_null", file_bytes(R"({"w":null})"), "null for \"w\""},
      {"tensor_is_a_string", file_bytes(R"({"w":"F32"})"), "a string for \"w\""},
      {"tensor_is_a_number", file_bytes(R"({"w":1})"), "a number for \"w\""},
      {"tensor_is_true", file_bytes(R"({"w":true})"), "true or false for \"w\""},
      {"tensor_twice",
       file_bytes("{\"w\":{" + f32 + rest + "},\"w\":{" + f32 + R"("shape":[2],"data_offsets":[8,16]}})",
                  kEight + kEight),
       "lists \"w\" twice"},
      {"tensor_twice_by_escape",
       file_bytes("{\"w\":{" + f32 + rest + "},\"\\u0077\":{" + f32 + rest + "}}", kEight),
       "lists \"w\" twice"},
      {"dtype_twice", file_bytes(one(f32 + f32 + rest), kEight), "gives dtype twice"},
      {"shape_twice", file_bytes(one(f32 + R"("shape":[2],)" + rest), kEight), "gives shape twice"},
      {"metadata_twice", file_bytes(R"({"__metadata__":{},"__metadata__":{}})"), "twice"},
      {"metadata_key_twice", file_bytes(R"({"__metadata__":{"k":"1","k":"2"}})"), "lists \"k\" twice"},
      {"metadata_a_string", file_bytes(R"({"__metadata__":"k"})"), "expected an object"},
      {"metadata_number", file_bytes(R"({"__metadata__":{"k":1}})"), "expected a string"},
      {"metadata_null", file_bytes(R"({"__metadata__":{"k":null}})"), "expected a string"},
      {"metadata_list", file_bytes(R"({"__metadata__":{"k":["a"]}})"), "expected a string"},
      {"metadata_object", file_bytes(R"({"__metadata__":{"k":{}}})"), "expected a string"},
      {"field_unknown", file_bytes(one(f32 + rest + R"(,"offset":[0])"), kEight), "unknown field \"offset\""},
      {"field_missing", file_bytes(one(rest), kEight), "needs exactly dtype, shape and data_offsets"},
      {"fields_none", file_bytes(one("")), "needs exactly dtype, shape and data_offsets"},
      {"dtype_f8", file_bytes(one(R"("dtype":"F8_E4M3",)" + rest), kEight), "type \"F8_E4M3\", expected F64"},
      {"dtype_u16", file_bytes(one(R"("dtype":"U16",)" + rest), kEight), "type \"U16\""},
      {"dtype_u32", file_bytes(one(R"("dtype":"U32",)" + rest), kEight), "type \"U32\""},
      {"dtype_u64", file_bytes(one(R"("dtype":"U64",)" + rest), kEight), "type \"U64\""},
      {"dtype_lower_case", file_bytes(one(R"("dtype":"f32",)" + rest), kEight), "type \"f32\""},
      {"dtype_a_number", file_bytes(one(R"("dtype":32,)" + rest), kEight), "a number in its dtype"},
      {"dtype_a_list", file_bytes(one(R"("dtype":["F32"],)" + rest), kEight), "a list in its dtype"},
      {"shape_a_number", file_bytes(one(f32 + R"("shape":2,"data_offsets":[0,8])"), kEight),
       "a number in its shape"},
      {"shape_a_string", file_bytes(one(f32 + R"("shape":"2","data_offsets":[0,8])"), kEight),
       "a string in its"},
      {"shape_of_strings", file_bytes(one(f32 + R"("shape":["2"],"data_offsets":[0,8])"), kEight),
       "a string in its"},
      {"shape_negative", file_bytes(one(f32 + R"("shape":[-2],"data_offsets":[0,8])"), kEight),
       "a negative number"},
      {"shape_two_negatives", file_bytes(one(f32 + R"("shape":[-1,-2],"data_offsets":[0,8])"), kEight),
       "negative"},
      {"shape_a_fraction", file_bytes(one(f32 + R"("shape":[2.0],"data_offsets":[0,8])"), kEight),
       "no 64-bit integer"},
      {"shape_exponent", file_bytes(one(f32 + R"("shape":[2e0],"data_offsets":[0,8])"), kEight),
       "no 64-bit integer"},
      {"shape_over_64_bits",
       file_bytes(one(f32 + R"("shape":[18446744073709551618],"data_offsets":[0,8])"), kEight),
       "no 64-bit integer"},
      {"shape_over_63_bits",
       file_bytes(one(f32 + R"("shape":[9223372036854775808],"data_offsets":[0,8])"), kEight),
       "is too large"},
      {"shape_times_size_overflows",
       file_bytes(one(f32 + R"("shape":[4611686018427387906],"data_offsets":[0,8])"), kEight),
       "is too large"},
      {"shape_product_wraps_to_two",
       file_bytes(one(f32 + R"("shape":[4294967296,4294967296,2],"data_offsets":[0,8])"), kEight),
       "is too large"},
      {"shape_overflows_around_a_zero",
       file_bytes(one(f32 + R"("shape":[0,4611686018427387904,4],"data_offsets":[0,0])")), "is too large"},
      {"shape_of_65_dimensions",
       file_bytes(one(f32 + "\"shape\":[" + repeat("1,", 64) + "2],\"data_offsets\":[0,8]"), kEight),
       "over 64 numbers"},
      {"shape_huge_but_no_data",
       file_bytes(one(f32 + R"("shape":[1000000000000],"data_offsets":[0,4000000000000])"), kEight),
       "truncated"},
      {"shape_smaller_than_data", file_bytes(one(f32 + R"("shape":[1],"data_offsets":[0,8])"), kEight),
       "need 4"},
      {"shape_larger_than_data", file_bytes(one(f32 + R"("shape":[3],"data_offsets":[0,8])"), kEight),
       "need 12"},
      {"shape_zero_with_data", file_bytes(one(f32 + R"("shape":[0],"data_offsets":[0,8])"), kEight),
       "need 0"},
      {"offsets_one", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[0])"), kEight),
       "are 1 numbers, expected 2"},
      {"offsets_three", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[0,8,8])"), kEight), "expected 2"},
      {"offsets_none", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[])"), kEight), "expected 2"},
      {"offsets_negative", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[-8,0])"), kEight), "negative"},
      {"offsets_backwards", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[8,0])"), kEight),
       "bytes 8 to 0 of 8"},
      {"offsets_beyond_the_file", file_bytes(one(f32 + R"("shape":[2],"data_offsets":[8,16])"), kEight),
       "bytes 8 to 16 of 8"},
      {"offsets_wrap_around",
       file_bytes(one(f32 + R"("shape":[2],"data_offsets":[18446744073709551608,0])"), kEight),
       "truncated or damaged"},
      {"offsets_at_the_end_of_the_range",
       file_bytes(one(f32 + R"("shape":[2],"data_offsets":[0,18446744073709551615])"), kEight),
       "truncated or damaged"},
      {"tensors_overlap",
       file_bytes("{\"v\":{" + f32 + rest + "},\"w\":{" + f32 + R"("shape":[2],"data_offsets":[4,12]}})",
                  kEight + "1234"),
       "overlap"},
      {"tensors_share_bytes", file_bytes("{\"v\":{" + f32 + rest + "},\"w\":{" + f32 + rest + "}}", kEight),
       "overlap"},
      {"empty_tensor_inside_another",
       file_bytes("{\"v\":{" + f32 + rest + "},\"w\":{" + f32 + R"("shape":[0],"data_offsets":[4,4]}})",
                  kEight),
       "overlap"},
      {"gap_between_tensors",
       file_bytes("{\"v\":{" + f32 + rest + "},\"w\":{" + f32 + R"("shape":[1],"data_offsets":[9,13]}})",
                  kEight + "12345"),
       "leave a gap"},
      {"gap_in_front", file_bytes(one(f32 + R"("shape":[1],"data_offsets":[4,8])"), kEight), "leave a gap"},
      {"bytes_after_the_last", file_bytes(one(f32 + rest), kEight + "x"), "1 bytes after the last tensor"},
      {"bytes_without_tensors", file_bytes("{}", "x"), "1 bytes after the last tensor"},
      {"data_truncated", file_bytes(one(f32 + rest), "1234567"), "bytes 0 to 8 of 7: truncated"},
      {"bool_of_two", file_bytes(one(R"("dtype":"BOOL","shape":[2],"data_offsets":[0,2])"), "\1\2"),
       "0 and 1"},
      {"name_with_newline", file_bytes("{\"a\\nb\":1}"), "\"a\\x0ab\""},
      {"too_many_tensors", file_bytes(many_tensors(100'001)), "over 100000 tensors"},
      {"too_much_metadata", file_bytes(many_metadata(100'001)), "over 100000 entries"},
  };
}

class HostileSafetensors : public ::testing::TestWithParam<Lie> {};

INSTANTIATE_TEST_SUITE_P(Lies, HostileSafetensors, ::testing::ValuesIn(lies()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HostileSafetensors, GetsOneClearLine) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "hostile.safetensors";
  write_file(path, GetParam().bytes);
  try {
    read_safetensors(path);
    FAIL() << "was accepted";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
    EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), path.string().size() + 300) << message;
  }
}

// A small, valid file with everything in it: metadata, padding, several types, a scalar and an empty tensor.
std::string valid_file() {
  const TemporaryFolder folder;
  write_safetensors(folder / "x",
                    {{"a", at::arange(3, at::kFloat)},
                     {"b", at::ones({2, 2}, at::kByte)},
                     {"flag", at::ones({2}, at::kBool)},
                     {"none", at::empty({0, 4}, at::kHalf)},
                     {"scalar", at::full({}, 5, at::kLong)}},
                    {{"kind", "test"}});
  return read_file(folder / "x");
}

// Reads bytes as a file. True when accepted, and then every value of every tensor has been touched.
bool accepts(const TemporaryFolder& folder, const std::string& bytes) {
  // Removed afterwards, not replaced: some file systems flush a file that is replaced, which takes long.
  std::ofstream(folder / "x", std::ios::binary) << bytes;
  bool accepted = true;
  try {
    const TensorFile file = read_safetensors(folder / "x");
    std::int64_t total = 0;
    for (const auto& [name, tensor] : file.tensors) total += tensor.to(at::kFloat).numel();
    EXPECT_LE(total, static_cast<std::int64_t>(bytes.size()));
    hash_of(file.tensors);
  } catch (const UserError&) {
    accepted = false;
  }
  std::filesystem::remove(folder / "x");
  return accepted;
}

TEST(DamagedSafetensors, TruncatedAtEveryByteIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = valid_file();
  ASSERT_TRUE(accepts(folder, whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(accepts(folder, whole.substr(0, size))) << size;
  }
}

TEST(DamagedSafetensors, AnyBitFlippedIsRefusedOrStillConsistent) {
  const TemporaryFolder folder;
  const std::string whole = valid_file();
  int accepted = 0, refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      (accepts(folder, bytes) ? accepted : refused) += 1;
    }
  }
  EXPECT_GT(accepted, 0);  // values, and letters inside names
  EXPECT_GT(refused, accepted);
}

TEST(DamagedSafetensors, EveryByteReplacedByWhatJsonFears) {
  const TemporaryFolder folder;
  const std::string whole = valid_file();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '"', '\\', ']', '-', '9'}) {
      std::string bytes = whole;
      bytes[i] = c;
      accepts(folder, bytes);
    }
  }
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * std::int64_t{1024};
}

TEST(HostileSafetensorsMemory, AClaimOfTerabytesAllocatesNothing) {
  const TemporaryFolder folder;
  const std::int64_t before = peak_memory();
  const std::string claim = one(R"("dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208])");
  EXPECT_FALSE(accepts(folder, file_bytes(claim, kEight)));
  EXPECT_FALSE(accepts(folder, length_field(99'000'000) + "{\"w\":"));
  EXPECT_LT(peak_memory() - before, 16 << 20);
}

TEST(HostileSafetensorsMemory, ALargeHeaderCostsAFewTimesItsSize) {
  const TemporaryFolder folder;
  const std::string header = file_bytes("{\"w\":{\"shape\":[" + repeat("1,", 10'000'000));  // 20 MB
  const std::int64_t before = peak_memory();
  EXPECT_FALSE(accepts(folder, header));
  EXPECT_LT(peak_memory() - before, 60 << 20);
}

}  // namespace
}  // namespace undertext
