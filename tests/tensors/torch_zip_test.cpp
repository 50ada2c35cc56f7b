#include "tensors/torch_zip.h"

#include <ATen/ATen.h>

#include "base/memory.h"
#include "base/temporary_folder.h"
#include "tensors/messages.h"
#include "tensors/pickle_bytes.h"
#include "tensors/read_tensors.h"

namespace undertext {
namespace {

using namespace pickled;

// 0, 1, 2, ... in float32.
std::string floats(std::int64_t count) {
  const at::Tensor numbers = at::arange(count, at::kFloat);
  return {static_cast<const char*>(numbers.data_ptr()), static_cast<std::size_t>(count) * 4};
}

// A value pickled by torch.save, with the storage "0" of 12 floats.
TensorFile read(const std::string& value) {
  TensorFile file = read_tensors(keep_bytes(archive(whole(value), {floats(12)})), "x.pt");
  EXPECT_EQ(file.format, "torch");
  for (const auto& [name, tensor] : file.tensors) EXPECT_TRUE(tensor.is_contiguous()) << name;
  return file;
}

TEST(ReadTorchZip, AStateDictWithItsMetadata) {
  const std::string state = ordered_dict() + "(" + text("b") + row(12) + text("a") +
                            tensor(storage("0", 12), 4, {2}, {1}) + "u" + "}" + text("_metadata") +
                            ordered_dict() + "sb";
  const TensorFile file = read(state);
  EXPECT_TRUE(file.named);
  EXPECT_EQ(file.order, (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(file.tensors.at("b").equal(at::arange(12, at::kFloat)));
  EXPECT_TRUE(file.tensors.at("a").equal(at::arange(4, 6, at::kFloat)));
}

TEST(ReadTorchZip, StridesOfEveryKind) {
  const std::string zero = storage("0", 12);
  const TensorFile file = read(dict({{"plain", tensor(zero, 0, {3, 4}, {4, 1})},
                                     {"transposed", tensor(zero, 0, {4, 3}, {1, 4})},
                                     {"steps", tensor(zero, 1, {4}, {3})},
                                     {"expanded", tensor(zero, 5, {2, 3}, {0, 0})},
                                     {"scalar", tensor(zero, 11, {}, {})},
                                     {"overlapping", tensor(zero, 0, {10, 3}, {1, 1})},
                                     {"empty", tensor(zero, 0, {0, 4}, {4, 1})},
                                     {"empty_beyond", tensor(zero, 99, {0}, {1})}}));
  const at::Tensor all = at::arange(12, at::kFloat);
  EXPECT_TRUE(file.tensors.at("plain").equal(all.reshape({3, 4})));
  EXPECT_TRUE(file.tensors.at("transposed").equal(all.reshape({3, 4}).t()));
  EXPECT_TRUE(file.tensors.at("steps").equal(at::arange(1, 12, 3).to(at::kFloat)));
  EXPECT_TRUE(file.tensors.at("expanded").equal(at::full({2, 3}, 5.0f)));
  EXPECT_EQ(file.tensors.at("scalar").item<float>(), 11);
  EXPECT_EQ(file.tensors.at("overlapping")[9][2].item<float>(), 11);
  EXPECT_EQ(file.tensors.at("empty").sizes(), at::IntArrayRef({0, 4}));
  EXPECT_EQ(file.tensors.at("empty_beyond").numel(), 0);
}

TEST(ReadTorchZip, TwoNamesOfOneStorageShareIt) {
  const TensorFile file = read(dict({{"a", row(12)}, {"b", row(12)}}));
  EXPECT_EQ(file.tensors.at("a").data_ptr(), file.tensors.at("b").data_ptr());
}

TEST(ReadTorchZip, EveryType) {
  const std::vector<std::pair<std::string, at::ScalarType>> types = {
      {"DoubleStorage", at::kDouble},     {"FloatStorage", at::kFloat}, {"HalfStorage", at::kHalf},
      {"BFloat16Storage", at::kBFloat16}, {"LongStorage", at::kLong},   {"IntStorage", at::kInt},
      {"ShortStorage", at::kShort},       {"CharStorage", at::kChar},   {"ByteStorage", at::kByte},
      {"BoolStorage", at::kBool}};
  for (const auto& [name, dtype] : types) {
    const at::Tensor ones = at::ones({3}, dtype);
    const std::string bytes(static_cast<const char*>(ones.data_ptr()), ones.nbytes());
    const std::string pickle = whole(dict({{"w", tensor(storage("0", 3, name), 0, {3}, {1})}}));
    const TensorFile file = read_tensors(keep_bytes(archive(pickle, {bytes})), "x");
    EXPECT_EQ(file.tensors.at("w").scalar_type(), dtype);
    EXPECT_TRUE(file.tensors.at("w").equal(ones)) << name;
  }
}

TEST(ReadTorchZip, ParametersAndSizesAreWhatTheyHold) {
  const std::string parameter =
      global("torch._utils", "_rebuild_parameter") + "(" + row(12) + "\x88" + ordered_dict() + "tR";
  const std::string sized = global("torch._utils", "_rebuild_tensor_v2") + "(" + storage("0", 12) +
                            integer(0) + global("torch", "Size") + "(" + integers({3, 4}) + "tR" +
                            integers({4, 1}) + "\x89" + ordered_dict() + "tR";
  const TensorFile file = read(dict({{"p", parameter}, {"s", sized}}));
  EXPECT_EQ(file.tensors.at("p").numel(), 12);
  EXPECT_EQ(file.tensors.at("s").sizes(), at::IntArrayRef({3, 4}));
}

TEST(ReadTorchZip, LaterProtocolsAndTheirShortForms) {
  const auto short_text = [](const std::string& value) {
    return std::string("\x8c") + static_cast<char>(value.size()) + value;
  };
  const auto short_global = [&](const std::string& module, const std::string& name) {
    return short_text(module) + "\x94" + short_text(name) + "\x94\x93\x94";
  };
  // {"w": tensor of all 12}, as protocol 4 would have it; the frame's length is not looked at.
  const std::string pickle =
      std::string("\x80\x04\x95", 3) + std::string(8, '\0') + "}\x94" + short_text("w") + "\x94" +
      short_global("torch._utils", "_rebuild_tensor_v2") + "(" + "(" + short_text("storage") + "\x94" +
      short_global("torch", "FloatStorage") + short_text("0") + "\x94" + short_text("cpu") + "\x94" +
      "K\x0c" + "t\x94Q" + std::string("K\0", 2) + "K\x03K\x04\x86" + "\x94" + "K\x04K\x01\x86\x94" + "\x89" +
      short_global("collections", "OrderedDict") + ")R\x94t\x94R\x94s.";
  const TensorFile file = read_tensors(keep_bytes(archive(pickle, {floats(12)})), "x");
  EXPECT_TRUE(file.tensors.at("w").equal(at::arange(12, at::kFloat).reshape({3, 4})));
}

TEST(ReadTorchZip, FindsTheWeightsInACheckpoint) {
  const std::string weights = dict({{"w", row(12)}});
  const std::string optimizer = dict({{"state", dict({{"0", row(12)}})}, {"lr", "G" + std::string(8, '\0')}});
  for (const char* name : {"model", "state_dict", "model_state_dict", "module", "net", "weights"}) {
    const TensorFile file =
        read(dict({{"epoch", "K\3"}, {"optimizer", optimizer}, {name, weights}, {"note", "N"}}));
    EXPECT_EQ(file.order, std::vector<std::string>{"w"}) << name;
  }
  EXPECT_EQ(read(dict({{"model", dict({{"state_dict", weights}})}})).order.size(), 1u);
  EXPECT_EQ(read(dict({{"model", dict({})}, {"state_dict", weights}})).order.size(), 1u);
  // What is no tensor among the tensors is left out.
  EXPECT_EQ(read(dict({{"w", row(12)}, {"steps", "K\3"}})).order.size(), 1u);
}

TEST(ReadTorchZip, ListsHaveNoNames) {
  const std::string list = "](" + row(12) + tensor(storage("0", 12), 0, {2}, {1}) + "e";
  for (const std::string& value : {list, dict({{"weights", list}}), row(12) + "\x85"}) {
    const TensorFile file = read(value);
    EXPECT_FALSE(file.named);
    EXPECT_EQ(file.tensors.at("arr_0").numel(), 12);
  }
  EXPECT_EQ(read(list).order, (std::vector<std::string>{"arr_0", "arr_1"}));
  EXPECT_FALSE(read(row(12)).named);
}

TEST(ReadTorchZip, StoragesAreMapped) {
  const TemporaryFolder folder;
  TensorFile content;
  content.tensors = {{"w", at::arange(1000)}};
  content.order = {"w"};
  write_torch_zip(folder / "x", content);
  const SharedBytes bytes = map_file(folder / "x");
  const TensorFile file = read_tensors(bytes, "x");
  const char* data = static_cast<const char*>(file.tensors.at("w").data_ptr());
  EXPECT_TRUE(data >= bytes.data && data < bytes.data + bytes.size);
  EXPECT_TRUE(file.tensors.at("w").equal(at::arange(1000)));
}

// Values that lie, each in an archive with one storage of 12 floats.
struct LyingPickle {
  const char* name;
  std::string pickle;
  const char* expected;
};

std::ostream& operator<<(std::ostream& out, const LyingPickle& lie) {
  return out << lie.name;
}

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<LyingPickle> lies() {
  const std::string zero = storage("0", 12);
  const auto one = [](const std::string& value) { return whole(dict({{"w", value}})); };
  const auto placed = [&](std::int64_t offset, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
    return one(tensor(storage("0", 12), offset, shape, strides));
  };
  const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2");
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  return {
      {"empty", "", "ends too early"},
      {"no_end", "\x80\x02}", "ends too early"},
      {"nothing_on_the_stack", whole(""), "other than one value"},
      {"two_values", whole("NN"), "other than one value"},
      {"mark_left", whole("N("), "other than one value"},
      {"bytes_after_the_end", whole("}") + "x", "bytes follow its end"},
      {"protocol_0", std::string("\x80\0}.", 4), "protocol 0"},
      {"protocol_9", "\x80\x09}.", "protocol 9"},
      {"os_system", whole(global("os", "system") + "(" + text("true") + "tR"),
       "asks for \"os.system\": refused"},
      {"posix_system", whole(global("posix", "system") + "(" + text("true") + "tR"),
       "\"posix.system\": refused"},
      {"eval", whole(global("builtins", "eval") + "(" + text("1") + "tR"), "\"builtins.eval\": refused"},
      {"by_stack", whole(text("os") + text("system") + "\x93"), "\"os.system\": refused"},
      {"by_split_name", whole(text("torch._utils") + text("_rebuild_tensor_v2.__globals__") + "\x93"),
       "refused"},
      {"load_from_bytes", whole(global("torch.storage", "_load_from_bytes")),
       "\"torch.storage._load_from_bytes\""},
      {"whole_model", whole(global("transformers.models.gpt2", "GPT2LMHeadModel")), "state_dict()"},
      {"instance", whole("(ios\nsystem\n"), "opcode 0x69"},
      {"object", whole(ordered_dict() + ")\x81"), "opcode 0x81"},
      {"extension", whole("\x82\x01"), "opcode 0x82"},
      {"name_unfinished",
       "\x80\x02"
       "cos\nsystem",
       "does not end"},
      {"global_of_numbers", whole("K\1K\2\x93"), "a name is no text"},
      {"pop_of_nothing", whole("0"), "not there"},
      {"pop_under_a_mark", whole("N(0"), "not there"},
      {"tuple_without_mark", whole("t"), "a mark that is not there"},
      {"get_of_nothing", whole("h\5"), "did not remember"},
      {"get_of_a_gap", whole("Nq\x05h\3"), "did not remember"},
      {"put_far_away", whole("Nr\xff\xff\xff\x7f"), "leave gaps"},
      {"put_of_nothing", whole("q\1"), "remembers a value"},
      {"append_to_dict", whole("}Na"), "no list"},
      {"item_of_list", whole("]NNs"), "no dict"},
      {"odd_items", whole("}(Nu"), "a key without a value"},
      {"build_of_a_list", whole("]}b"), "gets a state"},
      {"build_by_a_list", whole("}]b"), "gets a state"},
      {"call_of_a_text", whole(text("x") + ")R"), "no function"},
      {"call_of_a_storage", whole(global("torch", "FloatStorage") + ")R"), "other arguments"},
      {"call_without_tuple", whole(global("collections", "OrderedDict") + "NR"), "no function"},
      {"dict_of_arguments", whole(global("collections", "OrderedDict") + "(NtR"), "other arguments"},
      {"parameter_of_none", whole(global("torch._utils", "_rebuild_parameter") + "(NNNtR"),
       "other arguments"},
      {"tensor_without_storage", whole(rebuild + "(NNNNNNtR"), "other arguments"},
      {"storage_no_tuple", whole("NQ"), "a tuple is missing"},
      {"storage_too_short", whole("(" + text("storage") + "tQ"), "says something else"},
      {"storage_of_other_type",
       whole("(" + text("storage") + global("collections", "OrderedDict") + text("0") + text("cpu") +
             "K\x0ctQ"),
       "says something else"},
      {"storage_key_a_number",
       whole("(" + text("storage") + global("torch", "FloatStorage") + "K\1" + text("cpu") + "K\x0ctQ"),
       "says something else"},
      {"storage_key_long", one(tensor(storage(std::string(65, '0'), 12), 0, {1}, {1})), "too long"},
      {"storage_elsewhere", one(tensor(storage("../version", 12), 0, {1}, {1})), "not in the archive"},
      {"storage_missing", one(tensor(storage("7", 12), 0, {1}, {1})), "storage \"7\" is not in the archive"},
      {"storage_larger", one(tensor(storage("0", 13), 0, {1}, {1})), "has 48 bytes, expected 13 elements"},
      {"storage_smaller", one(tensor(storage("0", 11), 0, {1}, {1})), "has 48 bytes, expected 11 elements"},
      {"storage_huge", one(tensor(storage("0", kHuge), 0, {1}, {1})), "has 48 bytes"},
      {"storage_negative", one(tensor(storage("0", -1), 0, {1}, {1})), "is negative"},
      {"storage_of_two_types",
       whole(dict({{"a", row(12)}, {"b", tensor(storage("0", 12, "IntStorage"), 0, {1}, {1})}})),
       "another type"},
      {"size_no_integer", one(rebuild + "(" + zero + integer(0) + "(Nt)" + "\x89" + ordered_dict() + "tR"),
       "an integer is missing"},
      {"offset_negative", placed(-1, {1}, {1}), "is negative"},
      {"offset_beyond", placed(12, {1}, {1}), "reaches element 12 of a storage of 12"},
      {"offset_huge", placed(std::numeric_limits<std::int64_t>::max(), {2}, {1}), "too large"},
      {"shape_negative", placed(0, {-1}, {1}), "is negative"},
      {"shape_beyond", placed(0, {13}, {1}), "reaches element 12"},
      {"shape_wraps", placed(0, {kHuge, 4}, {0, 0}), "too large"},
      {"shape_wraps_around_a_zero", placed(0, {0, kHuge, 4}, {0, 0, 0}), "too large"},
      {"strides_negative", placed(11, {12}, {-1}), "is negative"},
      {"strides_beyond", placed(0, {2}, {12}), "reaches element 12"},
      {"strides_wrap", placed(0, {3}, {kHuge}), "strides are too large"},
      {"strides_too_few", placed(0, {2, 2}, {2}), "differ in length"},
      {"expanded_to_terabytes", placed(0, {1 << 20, 1 << 20}, {0, 0}), "unfolds from"},
      {"dimensions_65", placed(0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1)),
       "too long"},
      {"integer_of_9_bytes",
       whole("\x8a\x09"
             "123456789"),
       "more than 64 bits"},
      {"text_beyond_the_end",
       "\x80\x02X\xff\xff\xff\xff"
       "abc",
       "ends too early"},
      {"text_of_exabytes",
       "\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"
       "abc",
       "ends too early"},
      {"no_tensors", whole(dict({{"epoch", "K\1"}, {"best", "N"}})),
       "no state dict in it, but the keys \"epoch\" \"best\""},
      {"tensors_under_other_names", whole(dict({{"encoder", dict({{"w", row(12)}})}})),
       "the keys \"encoder\""},
      {"two_state_dicts", whole(dict({{"model", dict({{"w", row(12)}})}, {"net", dict({{"w", row(12)}})}})),
       "more than one state dict"},
      {"only_a_number", whole("K\1"), "no dict"},
      {"list_of_numbers", whole("](K\1K\2e"), "no dict"},
      {"name_twice", whole(dict({{"w", row(12)}, {"w", row(12)}})), "\"w\" twice"},
      {"dict_in_itself", whole("}q\1" + text("model") + "h\1s"), "no state dict"},
      {"a_million_marks", whole(std::string(1'000'000, '(')), "other than one value"},
      {"five_million_lists", whole(std::string(5'000'000, ']')), "values"},
      {"lists_in_lists", whole("]" + repeat("]", 100'000) + std::string(100'000, 'a')), "no dict"},
      // Each dict holds the next a thousand times.
      {"a_thousand_laughs",
       whole("}q\1}q\2}q\3}q\4" + repeat("h\1" + text("model") + "h\2s0", 1000) +
             repeat("h\2" + text("model") + "h\3s0", 1000) + repeat("h\3" + text("model") + "h\4s0", 1000) +
             "0000h\1"),
       "no state dict"},
  };
}

class HostilePickle : public ::testing::TestWithParam<LyingPickle> {};

INSTANTIATE_TEST_SUITE_P(Lies, HostilePickle, ::testing::ValuesIn(lies()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HostilePickle, GetsOneClearLine) {
  const std::string bytes = archive(GetParam().pickle, {floats(12)});
  reset_peak_memory();
  const std::int64_t before = peak_memory();
  expect_one_clear_line(message_of([&] { read_tensors(keep_bytes(bytes), "x.pt"); }), "x.pt",
                        GetParam().expected);
  EXPECT_LT(peak_memory() - before, 400 << 20);
}

TEST(HostileTorchZip, OtherThingsInTheArchive) {
  const std::string pickle = whole(dict({{"w", row(12)}}));
  const auto expect = [](const std::vector<ZipPart>& parts, const char* expected) {
    const std::string bytes = zip_bytes(parts);
    expect_one_clear_line(message_of([&] { read_tensors(keep_bytes(bytes), "x.pt"); }), "x.pt", expected);
  };
  const ZipPart data{.name = "m/data/0", .content = floats(12)}, pkl{.name = "m/data.pkl", .content = pickle};
  expect({pkl, data, {.name = "m/byteorder", .content = "big"}}, "byteorder is \"big\"");
  expect({pkl, data, {.name = "m/constants.pkl"}}, "TorchScript");
  expect({pkl, {.name = "other/data/0", .content = floats(12)}}, "not in the archive");
  expect({{.name = "a/b/data.pkl", .content = pickle}}, "is no array");
  const std::string good = zip_bytes({pkl, data, {.name = "m/byteorder", .content = "little"}});
  EXPECT_EQ(read_tensors(keep_bytes(good), "x").tensors.size(), 1u);
}

std::string small_archive() {
  return archive(whole(ordered_dict() + "(" + text("a") + tensor(storage("0", 12), 1, {2, 2}, {2, 1}) +
                       text("b") + tensor(storage("1", 2, "BoolStorage"), 0, {2}, {1}) + "u"),
                 {floats(12), std::string("\1\0", 2)});
}

TEST(DamagedTorchZip, TruncatedAtEveryByteIsRefused) {
  const std::string bytes = small_archive();
  EXPECT_EQ(read_tensors(keep_bytes(bytes), "x").tensors.size(), 2u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(read_tensors(keep_bytes(bytes.substr(0, size)), "x"), UserError) << size;
  }
}

TEST(DamagedTorchZip, AnyBitFlippedIsRefusedOrStillConsistent) {
  const std::string whole_file = small_archive();
  for (std::size_t bit = 0; bit < 8 * whole_file.size(); ++bit) {
    std::string bytes = whole_file;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    message_of([&] { hash_of(read_tensors(keep_bytes(bytes), "x").tensors); });
  }
}

}  // namespace
}  // namespace undertext
