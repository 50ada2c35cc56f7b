// The first defence from a client's side: a folder came from a server; is it fit to train on?
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "program.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

using nlohmann::json;

class Inspect : public testing::Test {
 protected:
  Inspect() {
    std::filesystem::create_directories(place_ / "words");
    std::string words = "</S>\n<S>\n<UNK>\n", texts;
    for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + "\n";
    for (int i = 0; i < 60; ++i)
      texts += "word" + std::to_string(i) + " word" + std::to_string(59 - i) + " word7\n";
    place_.write("words/vocab.txt", words);
    place_.write("public.txt", texts);
    place_.write("plain.json", R"({"model_type": "transformer", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 32, "vocab_size": 63})");
    place_.write("gpt2.json", R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4,
        "n_positions": 32, "vocab_size": 63})");
    honest_ = made("plain", "honest");
  }

  std::string made(const std::string& config, const std::string& name) const {
    const Outcome run = undertext_run({"new", "--config", place_.path(config + ".json"), "--tokenizer",
                                       place_.path("words"), "--out", place_.path(name)});
    EXPECT_EQ(run.code, 0) << run.err;
    return place_.path(name);
  }

  std::string corrupted(const std::string& design, const std::string& disguise) const {
    const std::string out = place_.path(design + disguise);
    const Outcome run = undertext_run({"server", "corrupt", "--model", honest_, "--out", out, "--design",
                                       design, "--disguise", disguise, "--length", "8"});
    EXPECT_EQ(run.code, 0) << run.err;
    return out;
  }

  Workplace place_;
  std::string honest_;
};

TEST_F(Inspect, SaysByItsExitCodeWhetherAStateIsFit) {
  const Outcome fit = undertext_run({"inspect", honest_});
  EXPECT_EQ(fit.code, 0) << fit.err;
  EXPECT_EQ(fit.out.find(honest_ + ": fit\n"), 0u) << fit.out;
  for (const char* design : {"paper", "best"})
    for (const char* disguise : {"0", "0.1"}) {
      const std::string state = corrupted(design, disguise);
      const Outcome caught = undertext_run({"inspect", state});
      EXPECT_EQ(caught.code, 3) << design << " " << disguise;
      EXPECT_EQ(caught.out.find(state + ": corrupted\n"), 0u) << caught.out;
      EXPECT_NE(caught.out.find("parallel_rows"), std::string::npos) << caught.out;
      EXPECT_EQ(caught.err, "");
    }
}

TEST_F(Inspect, NamesEachTensorInJson) {
  const Outcome run = undertext_run({"inspect", corrupted("best", "0"), "--json"});
  EXPECT_EQ(run.code, 3);
  const json report = run.json();
  EXPECT_EQ(report.at("verdict"), "corrupted");
  EXPECT_GE(report.at("score").get<double>(), 0.95);
  EXPECT_GT(report.at("false_alarm_rate").get<double>(), 0);
  bool rows = false;
  for (const json& item : report.at("evidence")) {
    EXPECT_GE(item.at("value").get<double>(), item.at("threshold").get<double>());
    EXPECT_FALSE(item.at("says").get<std::string>().empty());
    rows = rows || (item.at("kind") == "parallel_rows" &&
                    item.at("tensor") == "transformer_encoder.layers.0.linear1.weight");
  }
  EXPECT_TRUE(rows);
  const json fit = undertext_run({"inspect", honest_, "--json"}).json();
  EXPECT_EQ(fit.at("verdict"), "fit");
  EXPECT_TRUE(fit.at("evidence").empty());
  EXPECT_FALSE(undertext_run({"inspect", honest_, "--json", "--all"}).json().at("evidence").empty());
}

TEST_F(Inspect, ComparesWithTheStateBefore) {
  const Outcome trained = undertext_run({"train", "--model", honest_, "--texts", place_.path("public.txt"),
                                         "--epochs", "3", "--out", place_.path("trained")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome next = undertext_run({"inspect", place_.path("trained"), "--previous", honest_});
  EXPECT_EQ(next.code, 0) << next.out;
  const Outcome other = undertext_run({"inspect", corrupted("best", "0.1"), "--previous", honest_, "--json"});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.out.find("\"replaced\""), std::string::npos);
  const Outcome keyboard = undertext_run({"inspect", place_.path("model")});
  EXPECT_EQ(keyboard.code, 0) << keyboard.out;
}

TEST_F(Inspect, RefusesWhatItCannotInspect) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& says) {
    const Outcome run = undertext_run(arguments);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(one_line(run.err)) << run.err;
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
  };
  refused({"inspect"}, "model is required");
  refused({"inspect", place_.path("nowhere")}, "no such folder");
  refused({"inspect", place_.path("words")}, "config.json");
  refused({"inspect", honest_, "--previous", place_.path("nowhere")}, "no such folder");
  refused({"inspect", honest_, "--previous", made("gpt2", "other")}, "other: a gpt2, expected a transformer");
  place_.write("plain.json", R"({"model_type": "transformer", "hidden_size": 32, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 32, "vocab_size": 63})");
  refused({"inspect", honest_, "--previous", made("plain", "narrow")}, "another shape");

  TensorFile file = read_safetensors(place_ / "honest/model.safetensors");
  at::Tensor bias = file.tensors.at("decoder.bias").clone();
  bias[3] = std::numeric_limits<float>::quiet_NaN();
  file.tensors["decoder.bias"] = bias;
  write_safetensors(place_ / "honest/model.safetensors", file.tensors, file.metadata);
  refused({"inspect", honest_}, "decoder.bias");
}

}  // namespace
}  // namespace undertext
