// Transformers from the command line: made, trained, updated and attacked; files of other frameworks.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tensors/read_tensors.h"
#include "transformer_place.h"

namespace undertext {
namespace {

using nlohmann::json;

class Transformers : public testing::Test {
 protected:
  Transformers() { place_.write("private.txt", "word3 word14 word15 word9 word26 word5\n"); }

  TransformerPlace place_{{}};
};

TEST_F(Transformers, AreTrainedAndGoOnFromATrainedFolder) {
  const Outcome run = place_.train("trained", 4);
  ASSERT_EQ(run.code, 0) << run.err;
  const json summary = run.json();
  EXPECT_EQ(summary.at("texts"), 36);
  EXPECT_EQ(summary.at("held_out"), 4);
  EXPECT_LT(summary.at("perplexity").get<double>(), 0.7 * summary.at("perplexity_before").get<double>());
  EXPECT_FALSE(std::filesystem::exists(place_ / "trained.checkpoint.safetensors"));
  const Outcome more = undertext_run({"train", "--model", place_.path("trained"), "--texts",
                                      place_.path("public.txt"), "--optimizer", "adamw", "--patience", "2",
                                      "--epochs", "3", "--out", place_.path("more")});
  EXPECT_EQ(more.code, 0) << more.err;
  const Outcome again = place_.train("trained", 4);
  EXPECT_EQ(again.code, 2) << "the folder is there already";
  EXPECT_TRUE(one_line(again.err)) << again.err;
}

TEST_F(Transformers, LoseTheirWordsAndTexts) {
  for (const char* config : {"plain", "gpt2"}) {
    const std::string model = place_.made(config), update = place_.updated(model, "private.txt");
    const std::string truth = place_.path("private.txt");
    const json words = place_.attack("words", model, update, {"--truth", truth, "--json"}).json();
    EXPECT_GE(words.at("scores").at("f1").get<double>(), 0.8) << config;
    const Outcome tag =
        place_.attack("tag", model, update, {"--iterations", "250", "--truth", truth, "--json"});
    ASSERT_EQ(tag.code, 0) << tag.err;
    EXPECT_EQ(tag.json().at("attack"), "tag");
    EXPECT_FALSE(tag.json().at("oracle"));
    EXPECT_GE(tag.json().at("scores").at("rouge_1").get<double>(), 0.4) << config;
  }
}

TEST_F(Transformers, DlgSaysWhatItIsGiven) {
  const std::string model = place_.made("plain"), update = place_.updated(model, "private.txt");
  const std::vector<std::string> known = {"--iterations", "40", "--labels", "known"};
  EXPECT_EQ(place_.attack("dlg", model, update, known).code, 2);
  EXPECT_TRUE(
      place_.attack("dlg", model, update, joined(known, {"--truth", place_.path("private.txt"), "--json"}))
          .json()
          .at("oracle"));
}

TEST_F(Transformers, UpdatesComeAsWeightsDeltaOrGradientInAnyFormat) {
  const std::string model = place_.made("plain");
  json first;
  for (const char* kind : {"weights", "delta", "gradient"}) {
    const std::string update = place_.updated(model, "private.txt", {"--kind", kind, "--lr", "0.1"});
    const Outcome converted = undertext_run({"convert", update, place_.path("update.npz")});
    ASSERT_EQ(converted.code, 0) << converted.err;
    const Outcome run = place_.attack("words", model, place_.path("update.npz"), {"--lr", "0.1", "--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    json ids = json::array();
    for (const json& word : run.json().at("words")) ids.push_back(word.at("id"));
    if (first.is_null()) first = ids;
    EXPECT_EQ(ids, first) << kind;
    const Outcome people = place_.attack("words", model, place_.path("update.npz"));
    EXPECT_NE(people.out.find(std::string(kind) + " (inferred)"), std::string::npos) << people.out;
  }
}

TEST_F(Transformers, TextsThatAreTooLongAreRefused) {
  const std::string model = place_.made("gpt2");
  std::string text;
  for (int i = 0; i < 17; ++i) text += "word1 ";
  place_.write("long.txt", text + "\n");
  const Outcome run = undertext_run({"client", "--model", model, "--texts", place_.path("long.txt"), "--out",
                                     place_.path("u.safetensors")});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("17 tokens, expected at most 16"), std::string::npos) << run.err;
  place_.write("short.txt", "word1\n");
  const Outcome none = undertext_run({"client", "--model", model, "--texts", place_.path("short.txt"),
                                      "--out", place_.path("u.safetensors")});
  EXPECT_EQ(none.code, 2) << "a single word predicts nothing";
}

TEST(GoldenProgram, GivesTheGradientsOfHuggingFace) {
  const std::filesystem::path golden = std::filesystem::path(UNDERTEXT_SHARED) / "golden/gpt2-tiny";
  if (!std::filesystem::exists(golden)) GTEST_SKIP() << "no golden data: " << golden;
  const Workplace place;
  const NamedTensors expected = read_tensors(golden / "expected.safetensors").tensors;
  const at::Tensor ids = expected.at("input_ids");
  std::string lines;
  for (std::int64_t b = 0; b < ids.size(0); ++b) {
    json line;
    for (std::int64_t t = 0; t < ids.size(1); ++t) line.push_back(ids[b][t].item<std::int64_t>());
    lines += line.dump() + "\n";
  }
  const Outcome run =
      undertext_run({"client", "--model", golden.string(), "--ids", place.write("ids.jsonl", lines),
                     "--gradient", "--out", place.path("gradient.safetensors")});
  ASSERT_EQ(run.code, 0) << run.err;
  const NamedTensors gradient = read_tensors(place / "gradient.safetensors").tensors;
  int compared = 0;
  for (const auto& [name, theirs] : expected) {
    if (!name.starts_with("grad.")) continue;
    const at::Tensor ours = gradient.at(name.substr(5));
    EXPECT_LT((ours - theirs).norm().item<double>(), 1e-5 * theirs.norm().item<double>()) << name;
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(gradient.size()));
}

}  // namespace
}  // namespace undertext
