// undertext client with sequences of one length, several users, clipping and noise.
#include <gtest/gtest.h>

#include <cmath>

#include "federated/update.h"
#include "program.h"
#include "tensors/read_tensors.h"

namespace undertext {
namespace {

using nlohmann::json;

class ClientUsers : public testing::Test {
 protected:
  ClientUsers() {
    std::string words = "</S>\n<S>\n<UNK>\n";
    for (int i = 0; i < 60; ++i) words += "w" + std::to_string(i) + "\n";
    std::filesystem::create_directories(place_ / "words");
    place_.write("words/vocab.txt", words);
    place_.write("config.json", R"({"model_type": "transformer", "hidden_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16, "vocab_size": 63})");
    place_.write("a.txt", "w1 w2 w3 w4 w5\nw6 w7\nw8 w9 w10\n");                  // 10 words
    place_.write("b.txt", "w11 w12 w13 w14\nw15 w16 w17 w18 w19 w20 w21 w22\n");  // 12 words
    const Outcome run = undertext_run({"new", "--config", place_.path("config.json"), "--tokenizer",
                                       place_.path("words"), "--out", place_.path("small")});
    EXPECT_EQ(run.code, 0) << run.err;
  }

  Outcome client(const std::vector<std::string>& more, const std::string& out = "update.safetensors") {
    std::vector<std::string> flags = {"client", "--json",        "--model", place_.path("small"),
                                      "--out",  place_.path(out)};
    flags.insert(flags.end(), more.begin(), more.end());
    return undertext_run(flags);
  }

  // The gradient of these lists of ids, each a sequence.
  NamedTensors gradient_of(const std::string& ids) {
    place_.write("ids.jsonl", ids);
    const Outcome run = client({"--gradient", "--ids", place_.path("ids.jsonl")}, "expected.safetensors");
    EXPECT_EQ(run.code, 0) << run.err;
    return read_tensors(place_ / "expected.safetensors").tensors;
  }

  Update update() { return load_update(place_ / "update.safetensors"); }

  void expect_same(const NamedTensors& expected) {
    const Update sent = update();
    ASSERT_EQ(sent.tensors.size(), expected.size());
    for (const auto& [name, tensor] : expected)
      EXPECT_TRUE(at::allclose(sent.tensors.at(name), tensor, 1e-4, 1e-7)) << name;
  }

  Workplace place_;
};

TEST_F(ClientUsers, CutsItsTextsIntoSequencesOfOneLength) {
  const Outcome run = client({"--gradient", "--length", "4", "--texts", place_.path("a.txt")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).at("messages"), 2);
  EXPECT_EQ(json::parse(run.out).at("words"), 8);
  EXPECT_EQ(update().protocol.count, 2);
  expect_same(gradient_of("[4, 5, 6, 7]\n[8, 9, 10, 11]\n"));
}

TEST_F(ClientUsers, TakesTheFirstSequencesOnly) {
  ASSERT_EQ(client({"--gradient", "--length", "4", "--sequences", "1", "--texts", place_.path("a.txt")}).code,
            0);
  expect_same(gradient_of("[4, 5, 6, 7]\n"));
}

TEST_F(ClientUsers, OfSeveralFilesAreAveraged) {
  const Outcome run = client({"--gradient", "--length", "4", "--sequences", "2", "--texts",
                              place_.path("a.txt"), place_.path("b.txt")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).at("users"), 2);
  EXPECT_EQ(update().protocol.count, 4);
  expect_same(gradient_of("[4, 5, 6, 7]\n[8, 9, 10, 11]\n[14, 15, 16, 17]\n[18, 19, 20, 21]\n"));
}

TEST_F(ClientUsers, CanShareOneFile) {
  const Outcome run = client(
      {"--gradient", "--length", "3", "--sequences", "1", "--users", "3", "--texts", place_.path("a.txt")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).at("users"), 3);
  EXPECT_EQ(update().protocol.count, 3);
  expect_same(gradient_of("[4, 5, 6]\n[7, 8, 9]\n[10, 11, 12]\n"));
}

// Each user's gradient is clipped, so the mean of two is at most as large, and noise of each adds up.
TEST_F(ClientUsers, ClipAndAddNoiseBeforeTheyAreAveraged) {
  const auto norm = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--gradient", "--length", "4", "--texts", place_.path("a.txt")};
    flags.insert(flags.end(), more.begin(), more.end());
    const Outcome run = client(flags);
    EXPECT_EQ(run.code, 0) << run.err;
    double squares = 0;
    for (const auto& [name, tensor] : update().tensors) squares += tensor.square().sum().item<double>();
    return std::sqrt(squares);
  };
  EXPECT_NEAR(norm({"--defence", "clipping:clip=0.001"}), 0.001, 1e-8);
  const double both = norm({"--defence", "clipping:clip=0.001", "--users", "2"});
  EXPECT_LT(both, 0.001);
  EXPECT_GT(both, 0.0003);
  double numbers = 0;
  for (const auto& [name, tensor] : update().tensors) numbers += static_cast<double>(tensor.numel());
  const std::vector<std::string> noise = {"--defence", "clipping:clip=0.001", "--defence",
                                          "noise-on-result:sigma=1,noise=laplace"};
  const double alone = norm(noise);
  EXPECT_NEAR(alone, std::sqrt(2 * numbers), 0.1 * std::sqrt(2 * numbers));
  std::vector<std::string> of_two = noise;
  of_two.insert(of_two.end(), {"--users", "2"});
  EXPECT_NEAR(norm(of_two), alone / std::sqrt(2.0), 0.1 * alone);
}

// Two more passes over the texts would triple the work, for a model that nobody keeps.
TEST_F(ClientUsers, AreToldNoPerplexityOfAGradient) {
  const Outcome gradient = client({"--gradient", "--texts", place_.path("a.txt")});
  EXPECT_FALSE(json::parse(gradient.out).contains("perplexity_before"));
  const Outcome weights = client({"--texts", place_.path("a.txt")});
  EXPECT_TRUE(json::parse(weights.out).at("perplexity_before").is_number());
}

TEST_F(ClientUsers, AreToldWhatIsMissing) {
  const std::string a = place_.path("a.txt"), b = place_.path("b.txt");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--length", "11", "--texts", a}, a + ": 10 tokens, expected at least one sequence of 11"},
      {{"--length", "4", "--sequences", "3", "--texts", a}, a + ": 2 sequences of 4 tokens, expected 3"},
      {{"--length", "4", "--sequences", "3", "--texts", b, a}, a + ": 2 sequences of 4 tokens, expected 3"},
      {{"--length", "4", "--users", "3", "--texts", a},
       a + ": 2 sequences of 4 tokens, expected one for each of 3 users"},
      {{"--length", "4", "--users", "2", "--texts", a, b}, "--users 2 and 2 files"},
      {{"--sequences", "2", "--texts", a}, "--length"},
      {{"--length", "0", "--texts", a}, "--length"},
      {{"--length", "17", "--ids", place_.write("long.jsonl", json(std::vector<int>(20, 5)).dump())}, "17"},
      {{"--defence", "clipping", "--texts", a}, "clipping: a norm of 0, expected a positive number"},
      {{"--defence", "clipping:clip=nan", "--texts", a}, "clipping: clip is \"nan\", expected a number"},
      {{"--defence", "noise-per-step:noise=uniform", "--texts", a}, "expected gaussian or laplace"},
  };
  for (auto [flags, expected] : cases) {
    flags.push_back("--gradient");
    const Outcome run = client(flags);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_NE(run.err.find(expected), std::string::npos) << run.err << "expected " << expected;
  }
  EXPECT_NE(client({"--texts", a, b}).err.find("expected gradients"), std::string::npos);
}

}  // namespace
}  // namespace undertext
