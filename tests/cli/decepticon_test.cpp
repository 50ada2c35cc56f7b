// The malicious server and its attack from the command line, as three programs that share nothing but files.
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

using nlohmann::json;

class Decepticon : public testing::Test {
 protected:
  Decepticon() {
    std::filesystem::create_directories(place_ / "words");
    std::string words = "</S>\n<S>\n<UNK>\n";
    for (int i = 0; i < 147; ++i) words += "word" + std::to_string(i) + "\n";
    place_.write("words/vocab.txt", words);
    std::string texts;
    for (int i = 0; i < 4; ++i) texts += line(i) + "\n";
    place_.write("private.txt", texts);
    place_.write("plain.json", R"({"model_type": "transformer", "hidden_size": 48, "num_hidden_layers": 3,
        "num_attention_heads": 4, "intermediate_size": 512, "max_position_embeddings": 16,
        "vocab_size": 150, "dropout": 0.1})");
    const Outcome made = undertext_run({"new", "--config", place_.path("plain.json"), "--tokenizer",
                                        place_.path("words"), "--out", place_.path("honest")});
    EXPECT_EQ(made.code, 0) << made.err;
  }

  // 8 words, no two lines beginning alike.
  static std::string line(int i) {
    std::string text;
    for (int t = 0; t < 8; ++t) text += "word" + std::to_string((37 * i + 11 * t + t * t) % 147) + " ";
    return text;
  }

  Outcome corrupt(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"server",   "corrupt", "--model", place_.path("honest"),
                                      "--design", "paper",   "--out",   place_.path(out),
                                      "--length", length_};
    flags.insert(flags.end(), more.begin(), more.end());
    return undertext_run(flags);
  }
  Outcome gradient(const std::string& model, const std::vector<std::string>& more = {"--gradient"}) {
    std::vector<std::string> flags = {"client",
                                      "--model",
                                      place_.path(model),
                                      "--texts",
                                      place_.path("private.txt"),
                                      "--out",
                                      place_.path("gradient"),
                                      "--no-dropout"};
    flags.insert(flags.end(), more.begin(), more.end());
    return undertext_run(flags);
  }
  Outcome attack(const std::string& model, const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"attack",           "decepticon", "--model",
                                      place_.path(model), "--update",   place_.path("gradient"),
                                      "--method",         "paper"};
    flags.insert(flags.end(), more.begin(), more.end());
    return undertext_run(flags);
  }
  void refused(const Outcome& run, const std::string& says) {
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_TRUE(one_line(run.err)) << run.err;
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
    EXPECT_TRUE(run.out.empty());
  }

  Workplace place_;
  std::string length_ = "8";  // of the sequences that the server expects
};

TEST_F(Decepticon, ReadsAClientsTextsFromItsGradient) {
  const Outcome made = corrupt("state", {"--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json().at("threat_model"), "malicious-server");
  EXPECT_EQ(made.json().at("bins"), 1536);
  EXPECT_EQ(made.json().at("dropout"), 0.1);
  EXPECT_TRUE(std::filesystem::exists(place_ / "state.key.json"));
  EXPECT_FALSE(std::filesystem::exists(place_ / "state" / "state.key.json")) << "clients do not get the key";
  ASSERT_EQ(gradient("state").code, 0);
  const Outcome run =
      attack("state", {"--sequences", "4", "--length", "8", "--truth", place_.path("private.txt"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = run.json();
  EXPECT_EQ(result.at("attack"), "decepticon");
  EXPECT_EQ(result.at("method"), "paper");
  EXPECT_EQ(result.at("design"), "paper");
  EXPECT_EQ(result.at("threat_model"), "malicious-server");
  ASSERT_EQ(result.at("sequences").size(), 4u);
  for (const json& sequence : result.at("sequences")) {
    EXPECT_EQ(sequence.at("ids").size(), 8u);
    EXPECT_EQ(sequence.at("confidence").size(), 8u);
    EXPECT_EQ(sequence.at("certified").size(), 8u);
    EXPECT_FALSE(sequence.at("text").get<std::string>().empty());
  }
  EXPECT_GE(result.at("scores").at("total_accuracy").get<double>(), 0.75);
  EXPECT_GE(result.at("scores").at("certified_accuracy").get<double>(), 0.99);

  const Outcome blind = attack("state", {"--json"});
  ASSERT_EQ(blind.code, 0) << blind.err;
  EXPECT_EQ(blind.json().at("sequences"), result.at("sequences")) << "number and length can be seen";
  EXPECT_TRUE(blind.json().at("scores").empty());
  const Outcome text = attack("state", {"--truth", place_.path("private.txt")});
  EXPECT_NE(text.out.find("malicious server"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("of tokens in their place"), std::string::npos) << text.out;
}

TEST_F(Decepticon, ScoresTheSequencesThatTheUpdateIsOf) {
  ASSERT_EQ(corrupt("state").code, 0);
  ASSERT_EQ(gradient("state", {"--gradient", "--length", "8", "--sequences", "2"}).code, 0);
  const Outcome run = attack("state", {"--truth", place_.path("private.txt"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("sequences").size(), 2u);
  EXPECT_EQ(run.json().at("scores").at("truth"), 2);
  EXPECT_GE(run.json().at("scores").at("total_accuracy").get<double>(), 0.75);
}

TEST_F(Decepticon, WritesAnOrdinaryFolderTheSameForTheSameSeed) {
  ASSERT_EQ(corrupt("one").code, 0);
  ASSERT_EQ(corrupt("two").code, 0);
  ASSERT_EQ(corrupt("three", {"--seed", "2", "--public-texts", place_.path("private.txt"), "--disguise",
                              "0.001", "--no-dropout"})
                .code,
            0);
  EXPECT_EQ(place_.read("one/model.safetensors"), place_.read("two/model.safetensors"));
  EXPECT_EQ(place_.read("one.key.json"), place_.read("two.key.json"));
  EXPECT_NE(place_.read("one/model.safetensors"), place_.read("three/model.safetensors"));
  EXPECT_EQ(place_.read("one/config.json"), place_.read("honest/config.json"));
  EXPECT_EQ(json::parse(place_.read("three/config.json")).at("dropout"), 0);
}

TEST_F(Decepticon, RefusesToCorruptWhatItCannot) {
  ASSERT_EQ(corrupt("state").code, 0);
  const auto before = place_.listing();
  refused(corrupt("state"), "is there already");
  std::filesystem::rename(place_ / "state", place_ / "elsewhere");
  refused(corrupt("state"), "state.key.json: is there already");
  std::filesystem::rename(place_ / "elsewhere", place_ / "state");
  refused(corrupt("none/state"), "does not exist");
  length_ = "17";
  refused(corrupt("long"), "expected 1 to 16");
  length_ = "8";
  refused(corrupt("texts", {"--public-texts", place_.path("none.txt")}), "none.txt");
  refused(undertext_run({"server", "corrupt", "--model", place_.path("model"), "--out", place_.path("lstm")}),
          "expected a gpt2, bert or transformer");
  place_.write("short.txt", "word1 word2\n");
  refused(corrupt("short", {"--public-texts", place_.path("short.txt")}),
          "expected at least one sequence of 8");
  std::filesystem::remove(place_ / "short.txt");
  EXPECT_EQ(place_.listing(), before);
}

TEST_F(Decepticon, RefusesGradientsAndKeysThatDoNotFit) {
  ASSERT_EQ(corrupt("state").code, 0);
  ASSERT_EQ(corrupt("other", {"--seed", "2"}).code, 0);
  ASSERT_EQ(gradient("state").code, 0);
  refused(attack("other"), "of another model");
  refused(attack("honest"), "expected the state's key");
  refused(attack("state", {"--key", place_.path("other.key.json")}), "key is of another state");
  refused(attack("state", {"--key", place_.path("plain.json")}), "plain.json");
  refused(attack("state", {"--key", place_.path("none.json")}), "none.json");
  refused(attack("state", {"--sequences", "5"}), "is of 4 sequences, expected 5");
  refused(attack("state", {"--length", "6"}), "sequences of 8 tokens");
  refused(attack("state", {"--length", "99"}), "at most 16");
  refused(attack("state", {"--truth", place_.path("none.txt")}), "none.txt");
  ASSERT_EQ(gradient("state", {}).code, 0);
  refused(attack("state"), "holds weights");
  ASSERT_EQ(gradient("state", {"--kind", "delta", "--epochs", "3"}).code, 0);
  refused(attack("state"), "several steps");
}

TEST_F(Decepticon, RefusesNumbersThatAreNone) {
  ASSERT_EQ(corrupt("state").code, 0);
  ASSERT_EQ(gradient("state").code, 0);
  TensorFile file = read_safetensors(place_ / "gradient");
  const std::string name = "transformer_encoder.layers.1.linear1.weight";
  file.tensors.at(name) = file.tensors.at(name).clone();
  file.tensors.at(name)[3][4] = std::numeric_limits<float>::quiet_NaN();
  write_safetensors(place_ / "gradient", file.tensors, file.metadata);
  refused(attack("state"), "linear1.weight");
}

}  // namespace
}  // namespace undertext
