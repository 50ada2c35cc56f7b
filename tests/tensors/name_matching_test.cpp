#include "tensors/name_matching.h"

#include <ATen/ATen.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "tensors/messages.h"
#include "tensors/read_tensors.h"

namespace undertext {
namespace {

using Strings = std::vector<std::string>;

// A file of these names, the i-th a tensor of one i.
TensorFile file_of(const Strings& names) {
  TensorFile file;
  for (std::size_t i = 0; i < names.size(); ++i) {
    file.tensors[names[i]] = at::full({1}, static_cast<float>(i));
    file.order.push_back(names[i]);
  }
  settle_names(file);
  return file;
}

std::vector<WantedTensor> all(const Strings& names) {
  std::vector<WantedTensor> wanted;
  for (const std::string& name : names) wanted.push_back({name, {1}});
  return wanted;
}

const Strings kGpt2 = {"transformer.wte.weight", "transformer.h.0.ln_1.weight", "transformer.h.0.ln_1.bias"};

// Each wanted name got the tensor at its place.
void expect_in_order(const NamedTensors& matched, const Strings& names) {
  ASSERT_EQ(matched.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(matched.at(names[i]).item<float>(), i) << names[i];
}

struct Spelling {
  const char* name;
  Strings names;
};

std::ostream& operator<<(std::ostream& out, const Spelling& spelling) {
  return out << spelling.name;
}

class Spellings : public ::testing::TestWithParam<Spelling> {};

INSTANTIATE_TEST_SUITE_P(
    OfOneModel, Spellings,
    ::testing::Values(
        Spelling{"itself", kGpt2},
        Spelling{"data_parallel",
                 {"module.transformer.wte.weight", "module.transformer.h.0.ln_1.weight",
                  "module.transformer.h.0.ln_1.bias"}},
        Spelling{"compiled_and_parallel",
                 {"module._orig_mod.transformer.wte.weight", "module._orig_mod.transformer.h.0.ln_1.weight",
                  "module._orig_mod.transformer.h.0.ln_1.bias"}},
        Spelling{"peft",
                 {"base_model.model.transformer.wte.weight", "base_model.model.transformer.h.0.ln_1.weight",
                  "base_model.model.transformer.h.0.ln_1.bias"}},
        Spelling{"the_base_alone", {"wte.weight", "h.0.ln_1.weight", "h.0.ln_1.bias"}},
        Spelling{"the_base_wrapped", {"module.wte.weight", "module.h.0.ln_1.weight", "module.h.0.ln_1.bias"}},
        Spelling{
            "lightning_with_a_name_of_its_own",
            {"lm.transformer.wte.weight", "lm.transformer.h.0.ln_1.weight", "lm.transformer.h.0.ln_1.bias"}},
        Spelling{"old_norms",
                 {"transformer.wte.weight", "transformer.h.0.ln_1.gamma", "transformer.h.0.ln_1.beta"}},
        Spelling{"old_norms_of_the_base", {"wte.weight", "h.0.ln_1.gamma", "h.0.ln_1.beta"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(Spellings, GiveTheSameTensors) {
  expect_in_order(match_names(file_of(GetParam().names), all(kGpt2), {}, "x"), kGpt2);
}

TEST(MatchNames, AModelWithoutTheFilesPrefix) {
  const Strings wanted = {"wte.weight", "h.0.ln_1.weight", "h.0.ln_1.bias"};
  expect_in_order(match_names(file_of(kGpt2), all(wanted), {}, "x"), wanted);
}

TEST(MatchNames, OnlySomeNamesNeedThePrefix) {
  const Strings wanted = {"bert.embeddings.weight", "bert.encoder.weight", "cls.predictions.bias"};
  expect_in_order(match_names(file_of({"embeddings.weight", "encoder.weight", "cls.predictions.bias"}),
                              all(wanted), {}, "x"),
                  wanted);
}

TEST(MatchNames, WhatMayBeLeftOut) {
  Strings names = kGpt2;
  names.insert(names.end(),
               {"transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias", "pooler.dense.weight"});
  MatchOptions options;
  options.ignored = {"*.attn.bias", "*.attn.masked_bias", "pooler.*"};
  expect_in_order(match_names(file_of(names), all(kGpt2), options, "x"), kGpt2);
  // By the names that they would have, too.
  for (std::string& name : names) name = "module." + name;
  expect_in_order(match_names(file_of(names), all(kGpt2), options, "x"), kGpt2);
  options.ignored = {"*.attn.bias", "*.masked"};
  expect_one_clear_line(message_of([&] { match_names(file_of(names), all(kGpt2), options, "x"); }), "x",
                        "has no tensor \"module.transformer.h.0.attn.masked_bias\" and 1 more");
}

TEST(MatchNames, TiedTensorsMustAgree) {
  TensorFile file = file_of(kGpt2);
  file.tensors["lm_head.weight"] = at::full({1}, 0.0f);
  file.order.push_back("lm_head.weight");
  MatchOptions options;
  options.aliases = {{"lm_head.weight", "transformer.wte.weight"}};
  expect_in_order(match_names(file, all(kGpt2), options, "x"), kGpt2);
  file.tensors["lm_head.weight"] = at::full({1}, 5.0f);
  expect_one_clear_line(message_of([&] { match_names(file, all(kGpt2), options, "x"); }), "x",
                        "values differ");
  // Alone it stands for the tensor.
  file.tensors.erase("transformer.wte.weight");
  file.order.erase(file.order.begin());
  EXPECT_EQ(match_names(file, all(kGpt2), options, "x").at("transformer.wte.weight").item<float>(), 5);
  file.tensors["lm_head.weight"] = at::ones({2});
  expect_one_clear_line(message_of([&] { match_names(file, all(kGpt2), options, "x"); }), "x",
                        "has the shape (2)");
}

TEST(MatchNames, SaysWhatIsWrong) {
  const auto expect = [](const Strings& names, const MatchOptions& options, const char* expected) {
    expect_one_clear_line(message_of([&] { match_names(file_of(names), all(kGpt2), options, "x"); }), "x",
                          expected);
  };
  MatchOptions partial;
  partial.partial = true;
  expect({}, {}, "none of the model's tensors is in it; expected names such as \"transformer.wte.weight\"");
  expect({}, partial, "none of the model's tensors");
  expect({"conv.weight"}, partial, "is in it, but \"conv.weight\"");
  expect({kGpt2[0], "conv.weight"}, partial, "has no tensor \"conv.weight\"");
  expect({kGpt2[0]}, {}, "\"transformer.h.0.ln_1.weight\" and 1 more is missing");
  expect({kGpt2[0], "module.transformer.wte.weight", "module.transformer.h.0.ln_1.weight"}, partial,
         "would be");
  // Alike, but not the same: layer 1 is no layer 0.
  expect({"transformer.h.1.ln_1.weight"}, partial, "none of the model's tensors");

  std::vector<WantedTensor> wanted = all(kGpt2);
  wanted[1].shape = {3, 2};
  expect_one_clear_line(message_of([&] { match_names(file_of(kGpt2), wanted, {}, "x"); }), "x",
                        "\"transformer.h.0.ln_1.weight\" has the shape (1), expected (3, 2)");
}

TEST(MatchNames, PartsAndOptionalTensors) {
  MatchOptions partial;
  partial.partial = true;
  EXPECT_EQ(match_names(file_of({kGpt2[2]}), all(kGpt2), partial, "x").size(), 1u);
  std::vector<WantedTensor> wanted = all(kGpt2);
  wanted[1].optional = true;
  EXPECT_EQ(match_names(file_of({kGpt2[0], kGpt2[2]}), wanted, {}, "x").size(), 2u);
}

// Three tensors of different shapes, without names.
TensorFile unnamed(const std::vector<std::vector<std::int64_t>>& shapes) {
  TensorFile file;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    file.tensors[place_name(i)] = at::full(shapes[i], static_cast<float>(i));
    file.order.push_back(place_name(i));
  }
  settle_names(file);
  return file;
}

const std::vector<WantedTensor> kThree = {{"a", {2, 3}}, {"b", {3}}, {"c", {4}}};

TEST(MatchNames, WithoutNamesByOrderAndShape) {
  const NamedTensors matched = match_names(unnamed({{2, 3}, {3}, {4}}), kThree, {}, "x");
  EXPECT_EQ(matched.at("c")[0].item<float>(), 2);

  MatchOptions options;
  options.orders = {{"a", "b", "c"}, {"b", "a", "mask", "c"}, {"a", "b", "c", "head"}};
  options.ignored = {"mask"};
  options.aliases = {{"head", "a"}};
  EXPECT_EQ(match_names(unnamed({{2, 3}, {3}, {4}}), kThree, options, "x").size(), 3u);
  const NamedTensors buffered = match_names(unnamed({{3}, {2, 3}, {7, 7}, {4}}), kThree, options, "x");
  EXPECT_EQ(buffered.at("b")[0].item<float>(), 0);
  EXPECT_EQ(buffered.at("c")[0].item<float>(), 3);
  expect_one_clear_line(message_of([&] {
                          match_names(unnamed({{2, 3}, {3}, {4}, {2, 3}}), kThree, options, "x");
                        }),
                        "x", "\"head\" and \"a\" are one tensor to this model, but their values differ");
}

TEST(MatchNames, WithoutNamesSaysWhichTensorIsWrong) {
  const auto expect = [](const TensorFile& file, const MatchOptions& options, const char* expected) {
    expect_one_clear_line(message_of([&] { match_names(file, kThree, options, "x"); }), "x", expected);
  };
  expect(unnamed({{2, 3}, {3}, {5}}), {},
         "tensor 3 of 3 (they have no names) has the shape (5), expected (4) for \"c\"");
  expect(unnamed({{3, 2}, {3}, {4}}), {}, "tensor 1 of 3");
  expect(unnamed({{2, 3}, {3}}), {}, "2 tensors without names, expected 3: give names with --names");
  MatchOptions options;
  options.orders = {{"c", "b", "a"}, {"a", "b", "c"}, {"b", "a", "c"}, {"a", "b", "c", "c"}};
  expect(unnamed({{2, 3}, {3}, {5}}), options, "tensor 3 of 3");  // of the order that fits best
  expect(unnamed({{1}}), options, "expected 3 or 4");
}

TEST(GiveNames, ByLinesInTheFilesOrder) {
  const TemporaryFolder folder;
  write_file(folder / "names", "a\nb\r\nc");
  MatchOptions options;
  options.names_file = folder / "names";
  EXPECT_EQ(match_names(unnamed({{2, 3}, {3}, {4}}), kThree, options, "x").at("b")[0].item<float>(), 1);
  write_file(folder / "names", "module.a\nmodule.b\nmodule.c\n");
  EXPECT_EQ(match_names(unnamed({{2, 3}, {3}, {4}}), kThree, options, "x").size(), 3u);

  const auto expect = [&](const char* lines, const char* expected) {
    write_file(folder / "names", lines);
    expect_one_clear_line(message_of([&] {
                            match_names(unnamed({{2, 3}, {3}, {4}}), kThree, options, "x");
                          }),
                          (folder / "names").string(), expected);
  };
  expect("a\nb\n", "2 names for the 3 tensors of x");
  expect("", "0 names");
  expect("a\nb\nb\n", "line 3 gives the name \"b\" again");
  expect("a\n\nb\n", "line 2 is empty");
}

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(UNDERTEXT_SHARED) / "golden/gpt2-tiny" / name;
}

// What Flower's clients send: arrays in the order of the state dict.
TEST(MatchNames, FlowersArraysAreTheModel) {
  if (!std::filesystem::exists(golden("model.safetensors")))
    GTEST_SKIP() << "no shared folder beside the checkout";
  std::vector<WantedTensor> wanted;
  const TensorFile torch = read_tensors(golden("pytorch_model.bin"));
  for (const std::string& name : torch.order) wanted.push_back({name, torch.tensors.at(name).sizes().vec()});
  for (const auto& [file, same] :
       {std::pair("flower_before.npz", "model.safetensors"),
        std::pair("flower_after.npz", "updated.safetensors"), std::pair("model.npz", "model.safetensors")}) {
    const NamedTensors expected = read_tensors(golden(same)).tensors;
    const NamedTensors matched = match_names(read_tensors(golden(file)), wanted, {}, file);
    ASSERT_EQ(matched.size(), expected.size());
    for (const auto& [name, tensor] : expected) EXPECT_TRUE(matched.at(name).equal(tensor)) << name;
  }
}

}  // namespace
}  // namespace undertext
