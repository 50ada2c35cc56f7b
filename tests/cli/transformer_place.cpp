#include "transformer_place.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace undertext {

TransformerPlace::TransformerPlace(const Shape& shape) {
  std::filesystem::create_directories(*this / "words");
  std::string words = "</S>\n<S>\n<UNK>\n", texts;
  for (int i = 0; i < shape.words; ++i) words += fmt::format("word{}\n", i);
  for (int i = 0; i < shape.texts; ++i) {
    for (int t = 0; t < shape.length; ++t) texts += fmt::format("word{} ", (7 * i + 11 * t) % shape.words);
    texts += "\n";
  }
  write("words/vocab.txt", words);
  write("public.txt", texts);
  const int vocabulary = shape.words + 3;
  write("gpt2.json",
        fmt::format(R"({{"model_type": "gpt2", "n_embd": {}, "n_layer": 1, "n_head": 4, "n_positions": 16,
            "vocab_size": {}, "embd_pdrop": 0, "attn_pdrop": 0, "resid_pdrop": 0}})",
                    shape.width, vocabulary));
  write("plain.json", fmt::format(R"({{"model_type": "transformer", "hidden_size": {0},
            "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": {0},
            "max_position_embeddings": 16, "vocab_size": {1}}})",
                                  shape.width, vocabulary));
}

std::string TransformerPlace::made(const std::string& config) const {
  const Outcome run = undertext_run(
      {"new", "--config", path(config + ".json"), "--tokenizer", path("words"), "--out", path(config)});
  EXPECT_EQ(run.code, 0) << run.err;
  return path(config);
}

std::string TransformerPlace::updated(const std::string& model, const std::string& texts,
                                      const std::vector<std::string>& more) const {
  const Outcome run = undertext_run(joined(
      {"client", "--model", model, "--texts", path(texts), "--out", path("update.safetensors")}, more));
  EXPECT_EQ(run.code, 0) << run.err;
  return path("update.safetensors");
}

Outcome TransformerPlace::train(const std::string& out, int epochs,
                                const std::vector<std::string>& more) const {
  return undertext_run(
      joined({"train", "--init", "random", "--config", path("gpt2.json"), "--tokenizer", path("words"),
              "--texts", path("public.txt"), "--epochs", std::to_string(epochs), "--batch", "8", "--lr",
              "0.01", "--json", "--out", path(out)},
             more));
}

Outcome TransformerPlace::attack(const std::string& name, const std::string& model, const std::string& update,
                                 const std::vector<std::string>& more) const {
  return undertext_run(joined({"attack", name, "--model", model, "--update", update}, more));
}

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace undertext
