// Training and clients with filters, defences, frozen embeddings and models kept on the way.
#include <gtest/gtest.h>

#include <filesystem>

#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"
#include "transformer_place.h"

namespace undertext {
namespace {

using nlohmann::json;

class DefendedTraining : public testing::Test {
 protected:
  DefendedTraining() {
    place_.write("mixed.txt", "word1 word2 word3\nword1\nword1 word2 word3 word4 word5\nword1 what why\n");
  }

  Outcome train(const std::string& out, const std::vector<std::string>& more) const {
    return place_.train(out, 2, more);
  }

  NamedTensors weights(const std::string& folder) const {
    return read_safetensors(place_ / (folder + "/model.safetensors")).tensors;
  }

  json client(const std::string& texts, const std::vector<std::string>& more) const {
    const Outcome run =
        undertext_run(joined({"client", "--model", place_.path("gpt"), "--texts", place_.path(texts), "--out",
                              place_.path("u"), "--gradient", "--json"},
                             more));
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? run.json() : json();
  }

  TransformerPlace place_{{.words = 30, .texts = 32, .length = 5, .width = 16}};
};

TEST_F(DefendedTraining, KeepsTheModelOnTheWay) {
  const Outcome run = train("gpt", {"--keep-every", "3"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("steps"), 8);  // 29 texts in batches of 8, twice
  for (const char* step : {"0", "3", "6"})
    EXPECT_TRUE(std::filesystem::exists(place_ / (std::string("gpt.steps/") + step + "/config.json")))
        << step;
  EXPECT_FALSE(std::filesystem::exists(place_ / "gpt.steps/9"));
  EXPECT_FALSE(weights("gpt.steps/3")
                   .at("transformer.wte.weight")
                   .equal(weights("gpt.steps/6").at("transformer.wte.weight")));
  // What lies there is not written over.
  EXPECT_EQ(train("gpt", {"--keep-every", "3"}).code, 2);
}

TEST_F(DefendedTraining, LeavesFrozenEmbeddingsAlone) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--train", "all-but-embedding"}, {"--defence", "frozen-embedding"}}) {
    std::vector<std::string> all = {"--keep-every", "100"};
    all.insert(all.end(), flags.begin(), flags.end());
    const std::string name_of_model = "gpt-" + flags.back();
    const Outcome run = train(name_of_model, all);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json().at("train"), "all-but-embedding");
    const NamedTensors before = weights(name_of_model + ".steps/0"), after = weights(name_of_model);
    for (const auto& [name, tensor] : before)
      EXPECT_EQ(tensor.equal(after.at(name)), name == "transformer.wte.weight") << name;
  }
}

TEST_F(DefendedTraining, TrainsUnderDefences) {
  const Outcome plain = train("plain", {}), pruned = train("pruned", {"--defence", "pruning:share=0.9"}),
                noisy = train("noisy", {"--defence", "dpsgd:clip=0.1,sigma=5"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  ASSERT_EQ(pruned.code, 0) << pruned.err;
  ASSERT_EQ(noisy.code, 0) << noisy.err;
  EXPECT_EQ(pruned.json().at("defences"), json({"pruning:share=0.9"}));
  EXPECT_NE(plain.json().at("perplexity"), pruned.json().at("perplexity"));
  EXPECT_GT(noisy.json().at("perplexity"), plain.json().at("perplexity"));
  EXPECT_EQ(train("bad", {"--defence", "pruning:share=1"}).code, 2);
  EXPECT_EQ(train("bad", {"--defence", "dpsgd:sigma=1"}).code, 2);
}

TEST_F(DefendedTraining, ClientsPruneAndClipEachText) {
  ASSERT_EQ(train("gpt", {}).code, 0);
  client("public.txt", {"--defence", "pruning:share=0.99"});
  for (const auto& [name, tensor] : read_safetensors(place_ / "u").tensors)
    EXPECT_LE(tensor.count_nonzero().item<std::int64_t>(), tensor.numel() / 100 + 1) << name;
  EXPECT_EQ(client("public.txt", {"--defence", "dpsgd:clip=0.001,sigma=0"}).at("defences"),
            json({"dpsgd:sigma=0,clip=0.001"}));
  double squares = 0;
  for (const auto& [name, tensor] : read_safetensors(place_ / "u").tensors)
    squares += tensor.square().sum().item<double>();
  EXPECT_LE(squares, 1.01e-6);
}

TEST_F(DefendedTraining, FiltersChooseTheTexts) {
  ASSERT_EQ(train("gpt", {}).code, 0);
  EXPECT_EQ(client("mixed.txt", {}).at("messages"), 4);
  EXPECT_EQ(client("mixed.txt", {"--min-words", "2"}).at("messages"), 3);
  EXPECT_EQ(client("mixed.txt", {"--max-tokens", "3"}).at("messages"), 3);
  EXPECT_EQ(client("mixed.txt", {"--max-unknown", "1"}).at("messages"), 3);
  EXPECT_EQ(client("mixed.txt", {"--append-end"}).at("words"), 16);
  EXPECT_EQ(client("public.txt", {"--max-perplexity", "1000"}).at("messages"), 32);
  const Outcome surprising =
      undertext_run({"client", "--model", place_.path("gpt"), "--texts", place_.path("public.txt"),
                     "--gradient", "--max-perplexity", "1.001", "--out", place_.path("u")});
  EXPECT_EQ(surprising.code, 2);
  EXPECT_NE(surprising.err.find("public.txt: no text has a perplexity of 1.001 or less"), std::string::npos)
      << surprising.err;
  const Outcome none =
      undertext_run({"client", "--model", place_.path("gpt"), "--texts", place_.path("mixed.txt"),
                     "--gradient", "--min-entities", "1", "--out", place_.path("u")});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("mixed.txt: the filter leaves no text"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace undertext
