// Model folders of transformers: all formats alike, mapped, made anew, refused.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/memory.h"
#include "base/temporary_folder.h"
#include "models/load_model.h"
#include "models/new_model.h"
#include "models/transformer/small_transformers.h"
#include "tensors/read_tensors.h"
#include "tensors/write_tensors.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

Vocabulary words(std::int64_t count) {
  std::vector<std::string> list = {"</S>", "<S>", "<UNK>"};
  while (static_cast<std::int64_t>(list.size()) < count) list.push_back("w" + std::to_string(list.size()));
  return Vocabulary(list);
}

TEST(TransformerFolder, IsTheSameInEveryFormat) {
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain}) {
    const TemporaryFolder folder;
    const auto model = small_transformer(small_config(kind));
    model->save(folder.path());
    const std::string hash = load_model(folder.path()).hash;
    EXPECT_EQ(hash, hash_of(model->parameters()));
    TensorFile content = read_tensors(folder.path());
    for (const char* name : {"pytorch_model.bin", "model.npz"}) {
      write_tensors(folder / name, content);
      std::filesystem::remove(folder / "model.safetensors");
      EXPECT_EQ(load_model(folder.path()).hash, hash) << name;
      std::filesystem::remove(folder / name);
    }
  }
}

TEST(TransformerFolder, TakesTheNamesOfABaseModelAndOldBuffers) {
  const TemporaryFolder folder;
  const auto model = small_transformer(small_config(TransformerKind::gpt2));
  model->save(folder.path());
  TensorFile base;
  for (const auto& [name, tensor] : model->parameters())
    base.tensors["module." + name.substr(std::string("transformer.").size())] = tensor;
  base.tensors["module.h.0.attn.bias"] = at::ones({1, 1, 9, 9}, at::kByte);
  base.tensors["module.h.0.attn.masked_bias"] = at::full({}, -1e4f);
  for (const auto& [name, tensor] : base.tensors) base.order.push_back(name);
  write_tensors(folder / "model.safetensors", base);
  EXPECT_EQ(load_model(folder.path()).hash, hash_of(model->parameters()));
}

TEST(TransformerFolder, IsMappedNotCopied) {
  const TemporaryFolder folder;
  TransformerConfig config = small_config(TransformerKind::plain);
  config.vocabulary = 40'000;
  config.width = 240;  // two matrices of 38 MB
  Transformer::random(config, Seed(1))->save(folder.path());
  reset_peak_memory();
  const std::int64_t before = peak_memory();
  const LoadedModel loaded = load_model(folder.path());
  EXPECT_LT(peak_memory() - before, 60'000'000) << "one matrix at a time, while it is checked";
  // A change stays in memory.
  at::Tensor weight = loaded.model->parameters().at("encoder.weight");
  weight.zero_();
  EXPECT_EQ(load_model(folder.path()).hash, loaded.hash);
}

TEST(TransformerFolder, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto model = small_transformer(small_config(TransformerKind::gpt2));
  const auto error_with = [&](const std::function<void(NamedTensors&)>& change) -> std::string {
    model->save(folder.path());
    TensorFile content = read_tensors(folder / "model.safetensors");
    TensorFile changed;
    for (const auto& [name, tensor] : content.tensors) changed.tensors[name] = tensor.clone();
    content = {};
    change(changed.tensors);
    for (const auto& [name, tensor] : changed.tensors) changed.order.push_back(name);
    write_tensors(folder / "model.safetensors", changed);
    try {
      load_model(folder.path());
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string norm = "transformer.ln_f.weight";
  EXPECT_NE(error_with([&](NamedTensors& t) { t.erase(norm); }).find("ln_f.weight\" is missing"),
            std::string::npos);
  EXPECT_NE(error_with([&](NamedTensors& t) { t[norm] = at::zeros({13}); }).find("(13), expected (12)"),
            std::string::npos);
  EXPECT_NE(error_with([&](NamedTensors& t) { t[norm][3] = NAN; }).find("holds NaN"), std::string::npos);
  EXPECT_NE(error_with([&](NamedTensors& t) {
              t["lm_head.weight"] = at::zeros({37, 12});
            }).find("lm_head.weight"),
            std::string::npos)
      << "tied, and yet another";
  EXPECT_NE(error_with([&](NamedTensors& t) { t["extra"] = at::zeros({2}); }).find("\"extra\""),
            std::string::npos);
}

TEST(TransformerFolder, WithoutATokenizerSpeaksInNumbers) {
  const TemporaryFolder folder;
  small_transformer(small_config(TransformerKind::gpt2))->save(folder.path());
  const ModelFolder loaded = load_model_folder(folder.path());
  EXPECT_EQ(loaded.tokenizer->encode(" 3 36\t0"), (Sentence{3, 36, 0}));
  EXPECT_EQ(loaded.tokenizer->decode(Sentence{3, 36}), "3 36");
  EXPECT_THROW(loaded.tokenizer->encode("37"), UserError);
  EXPECT_THROW(loaded.tokenizer->encode("hello"), UserError);
}

TEST(NewModel, TakesItsVocabularyFromTheTokenizer) {
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << R"({"model_type": "gpt2", "vocab_size": 50257, "n_embd": 16,
      "n_layer": 1, "n_head": 2, "n_positions": 8})";
  const Vocabulary tokenizer = words(20);
  const auto model = new_model(folder / "config.json", tokenizer, false, Seed(1));
  EXPECT_EQ(model->vocabulary_size(), 20);
  EXPECT_EQ(new_model(folder / "config.json", tokenizer, true, Seed(1))->vocabulary_size(), 50257);
  save_model_folder(*model, tokenizer, folder / "made");
  const ModelFolder loaded = load_model_folder(folder / "made");
  EXPECT_EQ(loaded.hash, hash_of(model->parameters()));
  EXPECT_EQ(loaded.tokenizer->token(7), "w7");
  EXPECT_THROW(save_model_folder(*model, tokenizer, folder / "made"), UserError) << "is there already";
  EXPECT_NE(hash_of(new_model(folder / "config.json", tokenizer, false, Seed(2))->parameters()), loaded.hash);
  std::ofstream(folder / "config.json") << R"({"model_type": "t5"})";
  EXPECT_THROW(new_model(folder / "config.json", tokenizer, false, Seed(1)), UserError);
}

}  // namespace
}  // namespace undertext
