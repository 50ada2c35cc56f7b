// undertext convert, from every format to every other.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "program.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

TEST(Convert, ThereAndBackAgainThroughEveryFormat) {
  const Workplace place;
  std::string before = place.path("model");
  for (const char* name : {"a.npz", "b.pt", "c.safetensors", "d.bin", "e.npz", "f.safetensors"}) {
    const Outcome outcome = undertext_run({"convert", before, place.path(name)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, name == std::string("a.npz")
                               ? "undertext: npz has no place for metadata: 1 entry left out\n"
                               : "");
    before = place.path(name);
  }
  EXPECT_EQ(hash_of(read_tensors(place / "model").tensors),
            hash_of(read_tensors(place / "f.safetensors").tensors));
}

TEST(Convert, SaysWhatItReadAndWroteForPeopleAndForPrograms) {
  const Workplace place;
  write_safetensors(place / "in", {{"a", at::ones({2, 3})}, {"b", at::ones({4}, at::kDouble)}});
  const Outcome people = undertext_run({"convert", place.path("in"), place.path("out.npz")});
  EXPECT_EQ(people.out, "read " + place.path("in") +
                            " (safetensors): 2 tensors, 10 numbers, 56 bytes\nwrote " +
                            place.path("out.npz") + " (npz)\n");
  const nlohmann::json json =
      undertext_run({"convert", place.path("in"), place.path("out.pt"), "--json"}).json();
  EXPECT_EQ(json.at("in_format"), "safetensors");
  EXPECT_EQ(json.at("out_format"), "torch");
  EXPECT_EQ(json.at("tensors"), 2);
  EXPECT_EQ(json.at("numbers"), 10);
  EXPECT_EQ(json.at("bytes"), 56);
  EXPECT_EQ(json.at("named"), true);
}

TEST(Convert, GivesNames) {
  const Workplace place;
  write_safetensors(place / "in", {{"arr_0", at::zeros({1})}, {"arr_1", at::ones({1})}});
  place.write("names.txt", "weight\nbias\n");
  const Outcome outcome =
      undertext_run({"convert", place.path("in"), place.path("out.npz"), "--names", place.path("names.txt")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const TensorFile file = read_tensors(place / "out.npz");
  EXPECT_TRUE(file.named);
  EXPECT_EQ(file.tensors.at("bias").item<float>(), 1);
}

TEST(Convert, RefusesInOneLineAndLeavesNothing) {
  const Workplace place;
  write_safetensors(place / "b16", {{"a", at::ones({2}, at::kBFloat16)}});
  place.write("pickle", "\x80\x02}q.");
  place.write("names.txt", "weight\n");
  const auto before = place.listing();
  const auto expect = [&](const std::vector<std::string>& arguments, const char* says) {
    const Outcome outcome = undertext_run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(one_line(outcome.err)) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_EQ(place.listing(), before);
  };
  expect({"convert", place.path("model"), place.path("out.txt")}, "cannot tell the format");
  expect({"convert", place.path("model"), place.path("out.npy")}, "cannot tell the format");
  expect({"convert", place.path("none"), place.path("out.npz")}, "cannot open");
  expect({"convert", place.path("texts.txt"), place.path("out.npz")}, "holds no tensors that can be read");
  expect({"convert", place.path("pickle"), place.path("out.npz")}, "before torch 1.6");
  expect({"convert", place.path("b16"), place.path("out.npz")}, "numpy has no BFloat16");
  expect({"convert", place.path("model"), place.path("none/out.npz")}, "does not exist");
  expect({"convert", place.path("model"), place.path("out.npz"), "--names", place.path("names.txt")},
         "1 names for");
  expect({"convert", place.path("model")}, "required");
}

}  // namespace
}  // namespace undertext
