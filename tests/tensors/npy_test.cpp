#include "tensors/npy.h"

#include <ATen/ATen.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "tensors/messages.h"
#include "tensors/read_tensors.h"
#include "tensors/zip_bytes.h"

namespace undertext {
namespace {

at::Tensor array(const std::string& bytes) {
  const TensorFile file = read_tensors(keep_bytes(bytes), "x");
  EXPECT_EQ(file.format, "npy");
  EXPECT_FALSE(file.named);
  EXPECT_EQ(file.order, std::vector<std::string>{"arr_0"});
  EXPECT_TRUE(file.tensors.at("arr_0").is_contiguous());
  return file.tensors.at("arr_0");
}

template <typename Number>
std::string bytes_of_numbers(std::initializer_list<Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(Number)};
}

const std::string kSix = bytes_of_numbers<float>({0, 1, 2, 3, 4, 5});

TEST(ReadNpy, EveryVersionOfTheFormat) {
  for (int version = 1; version <= 3; ++version) {
    const at::Tensor read = array(npy_bytes(npy_dict("<f4", "(2, 3)"), kSix, version));
    EXPECT_TRUE(read.equal(at::arange(6, at::kFloat).reshape({2, 3}))) << version;
  }
}

TEST(ReadNpy, EveryType) {
  const auto expect = [](const std::string& descr, const std::string& numbers, const at::Tensor& wanted) {
    const at::Tensor read = array(npy_bytes(npy_dict(descr, "(2,)"), numbers));
    EXPECT_EQ(read.scalar_type(), wanted.scalar_type()) << descr;
    EXPECT_TRUE(read.equal(wanted)) << descr;
  };
  const at::Tensor two = at::arange(1, 3);
  expect("<f8", bytes_of_numbers<double>({1, 2}), two.to(at::kDouble));
  expect("<f4", bytes_of_numbers<float>({1, 2}), two.to(at::kFloat));
  expect("<f2", std::string("\x00\x3c\x00\x40", 4), two.to(at::kHalf));
  expect("<i8", bytes_of_numbers<std::int64_t>({1, 2}), two);
  expect("<i4", bytes_of_numbers<std::int32_t>({1, 2}), two.to(at::kInt));
  expect("<i2", bytes_of_numbers<std::int16_t>({1, 2}), two.to(at::kShort));
  expect("|i1", "\1\2", two.to(at::kChar));
  expect("|u1", "\1\2", two.to(at::kByte));
  expect("|b1", std::string("\0\1", 2), at::arange(2).to(at::kBool));
  expect(">f4", std::string("\x3f\x80\0\0\x40\0\0\0", 8), two.to(at::kFloat));
  expect(">f8", std::string("\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16), two.to(at::kDouble));
  expect(">i2", std::string("\0\1\0\2", 4), two.to(at::kShort));
  expect(">i1", "\1\2", two.to(at::kChar));
}

TEST(ReadNpy, FortransOrderIsTurnedIntoOurs) {
  const at::Tensor read = array(npy_bytes(npy_dict("<f4", "(2, 3)", true), kSix));
  EXPECT_TRUE(read.equal(at::arange(6, at::kFloat).reshape({3, 2}).t()));
  const at::Tensor cube = array(npy_bytes(npy_dict("<f4", "(1, 2, 3)", true), kSix));
  EXPECT_EQ(cube[0][1][2].item<float>(), 5);
  EXPECT_EQ(cube[0][1][0].item<float>(), 1);
  EXPECT_EQ(array(npy_bytes(npy_dict("<f4", "()", true), kSix.substr(0, 4))).dim(), 0);
}

TEST(ReadNpy, ScalarsAndEmptyArrays) {
  EXPECT_EQ(array(npy_bytes(npy_dict("<f4", "()"), kSix.substr(4, 4))).item<float>(), 1);
  EXPECT_EQ(array(npy_bytes(npy_dict("<f4", "(3, 0, 2)"), "")).sizes(), at::IntArrayRef({3, 0, 2}));
  EXPECT_EQ(array(npy_bytes(npy_dict("<f4", "(0,)", true), "")).numel(), 0);
}

TEST(ReadNpy, ReadsTheLiteralAsPythonWould) {
  for (const char* dict : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n",
           "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
           "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) }\n",
       }) {
    EXPECT_EQ(array(npy_bytes(dict, kSix)).sizes(), at::IntArrayRef({2, 3})) << dict;
  }
}

TEST(ReadNpy, NumbersThatAreNotAlignedAreReadRight) {
  std::string dict = npy_dict("<f8", "(2,)");
  for (int i = 0; i < 16; ++i, dict += ' ') {
    const at::Tensor read = array(npy_bytes(dict, bytes_of_numbers<double>({1.5, 2.5})));
    EXPECT_EQ(read[1].item<double>(), 2.5);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.data_ptr()) % 8, 0u);
  }
}

std::vector<LyingFile> lies() {
  const auto with = [](const std::string& dict) { return npy_bytes(dict, kSix); };
  const std::string rest = "'fortran_order': False, 'shape': (2, 3)}";
  return {
      {"only_the_magic", "\x93NUMPY", "only 6 bytes long"},
      {"no_length", std::string("\x93NUMPY\1\0\5", 9), "truncated"},
      {"version_0", npy_bytes(npy_dict("<f4", "(2, 3)"), kSix, 0), "format 0.0"},
      {"version_4", npy_bytes(npy_dict("<f4", "(2, 3)"), kSix, 4), "format 4.0"},
      {"version_1_1", npy_bytes(npy_dict("<f4", "(2, 3)"), kSix, 0x101), "format 1.1"},
      {"header_beyond_the_file", std::string("\x93NUMPY\1\0\xff\0{", 11), "truncated"},
      {"header_of_4_gigabytes", std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13), "expected at most 65536"},
      {"header_over_the_limit",
       with(npy_dict("<f4", "(2, 3)") + std::string(65000, ' ')) + std::string(600, ' '), "bytes of numbers"},
      {"objects", with(npy_dict("|O", "(2, 3)")), "Python objects"},
      {"objects_by_another_name", with(npy_dict("O8", "(2, 3)")), "Python objects"},
      {"records", with("{'descr': [('a', '<f4')], " + rest), "structured"},
      {"unsigned_32", with(npy_dict("<u4", "(2, 3)")), "type \"<u4\""},
      {"complex", with(npy_dict("<c8", "(2, 3)")), "type \"<c8\""},
      {"strings", with(npy_dict("<U6", "(2, 3)")), "type \"<U6\""},
      {"void", with(npy_dict("|V4", "(2, 3)")), "type \"|V4\""},
      {"wide_float", with(npy_dict("<f16", "(2, 3)")), "type \"<f16\""},
      {"native_order", with(npy_dict("=f4", "(2, 3)")), "type \"=f4\""},
      {"no_order", with(npy_dict("|f4", "(2, 3)")), "type \"|f4\""},
      {"empty_type", with(npy_dict("", "(2, 3)")), "type \"\""},
      {"type_is_a_number", with("{'descr': 4, " + rest), "expected the type in quotes"},
      {"shape_negative", with(npy_dict("<f4", "(-2, 3)")), "a 64-bit integer from 0"},
      {"shape_over_64_bits", with(npy_dict("<f4", "(18446744073709551618, 3)")), "a 64-bit integer"},
      {"shape_product_wraps", with(npy_dict("<f4", "(4294967296, 4294967296, 2)")), "too large"},
      {"shape_wraps_around_a_zero", with(npy_dict("<f4", "(0, 4611686018427387904, 4)")), "too large"},
      {"shape_of_terabytes", with(npy_dict("<f4", "(1000000000000,)")), "need 4000000000000"},
      {"shape_too_small", with(npy_dict("<f4", "(2, 2)")), "need 16"},
      {"shape_a_number", with(npy_dict("<f4", "6")), "expected '('"},
      {"shape_no_tuple", with(npy_dict("<f4", "(6)")), "a tuple"},
      {"shape_a_list", with(npy_dict("<f4", "[2, 3]")), "expected '('"},
      {"shape_without_commas", with(npy_dict("<f4", "(2 3)")), "',' or ')'"},
      {"shape_of_65", with(npy_dict("<f4", "(" + std::string(65 * 2, '1') + ")")), "64-bit"},
      {"shape_of_floats", with(npy_dict("<f4", "(2.0, 3)")), "',' or ')'"},
      {"shape_unfinished", with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, "), "64-bit integer"},
      {"order_a_number", with("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}"), "True or False"},
      {"key_missing", with("{'descr': '<f4', 'shape': (2, 3)}"), "needs descr, fortran_order and shape"},
      {"key_twice", with("{'descr': '<f4', 'descr': '<f4', " + rest), "\"descr\" twice"},
      {"key_unknown", with("{'evil': '<f4', " + rest), "unknown key \"evil\""},
      {"no_dict", with("('<f4', False, (2, 3))"), "expected '{'"},
      {"code", with("__import__('os').system('true')"), "expected '{'"},
      {"dict_unfinished", with("{'descr': '<f4'"), "',' or '}'"},
      {"string_unfinished", with("{'descr"), "a key in quotes"},
      {"more_after_the_dict", with(npy_dict("<f4", "(2, 3)") + ";x"), "nothing more"},
      {"numbers_truncated", npy_bytes(npy_dict("<f4", "(2, 3)"), kSix.substr(1)), "has 23 bytes of numbers"},
      {"numbers_too_many", npy_bytes(npy_dict("<f4", "(2, 3)"), kSix + "x"), "has 25 bytes of numbers"},
      {"bool_of_two", npy_bytes(npy_dict("|b1", "(2,)"), "\1\2"), "other than 0 and 1"},
  };
}

class HostileNpy : public ::testing::TestWithParam<LyingFile> {};

INSTANTIATE_TEST_SUITE_P(Lies, HostileNpy, ::testing::ValuesIn(lies()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HostileNpy, GetsOneClearLine) {
  expect_one_clear_line(message_of([&] { read_tensors(keep_bytes(GetParam().bytes), "file.npy"); }),
                        "file.npy", GetParam().expected);
}

TEST(HostileNpy, TruncatedAtEveryByteIsRefused) {
  const std::string whole = npy_bytes(npy_dict("<f4", "(2, 3)"), kSix);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_tensors(keep_bytes(whole.substr(0, size)), "x"), UserError) << size;
  }
}

}  // namespace
}  // namespace undertext
