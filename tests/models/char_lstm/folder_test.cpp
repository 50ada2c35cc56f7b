#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "models/char_lstm/small_char_lstm.h"
#include "models/load_model.h"
#include "models/new_model.h"
#include "tensors/safetensors.h"
#include "text/character_tokenizer.h"

namespace undertext {
namespace {

using nlohmann::json;

class CharLstmFolder : public testing::Test {
 protected:
  void SetUp() override {
    CharLstmConfig config = small_char_config(3);
    config.dropout = 0.25;
    model_ = small_char_lstm(config);
    model_->save(folder());
  }
  const std::filesystem::path& folder() const { return temporary_.path(); }
  std::string error_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string load_error() {
    return error_of([this] { load_model(folder()); });
  }

  std::unique_ptr<CharLstm> model_;
  TemporaryFolder temporary_;
};

TEST_F(CharLstmFolder, ComesBackAsItWasSaved) {
  const LoadedModel loaded = load_model(folder());
  EXPECT_EQ(loaded.hash, hash_of(model_->parameters()));
  EXPECT_EQ(loaded.model->kind(), "char-lstm");
  EXPECT_EQ(loaded.model->start_token(), kNoToken);
  const CharLstmConfig& config = dynamic_cast<const CharLstm&>(*loaded.model).config();
  EXPECT_EQ(config.vocabulary, 11);
  EXPECT_EQ(config.embedding, 6);
  EXPECT_EQ(config.units, 19);
  EXPECT_EQ(config.layers, 3);
  EXPECT_EQ(config.dropout, 0.25);
  EXPECT_EQ(loaded.model->negative_log_likelihood(small_texts()),
            model_->negative_log_likelihood(small_texts()));
  at::Tensor bias = loaded.model->parameters().at("decoder.bias");
  bias.add_(1);  // writable, and not the file's own bytes
  EXPECT_NE(hash_of(loaded.model->parameters()), hash_of(load_model(folder()).model->parameters()));
}

TEST_F(CharLstmFolder, NamesItsParametersAsTorchDoes) {
  const std::vector<std::string> order = model_->parameter_order();
  ASSERT_EQ(order.size(), 15u);
  EXPECT_EQ(order[0], "embedding.weight");
  EXPECT_EQ(order[1], "lstm.weight_ih_l0");
  EXPECT_EQ(order[2], "lstm.weight_hh_l0");
  EXPECT_EQ(order[3], "lstm.bias_ih_l0");
  EXPECT_EQ(order[4], "lstm.bias_hh_l0");
  EXPECT_EQ(order[12], "lstm.bias_hh_l2");
  EXPECT_EQ(order[13], "decoder.weight");
  EXPECT_EQ(order[14], "decoder.bias");
  EXPECT_EQ(model_->parameter_of(Role::token_embedding), "embedding.weight");
  EXPECT_EQ(model_->parameter_of(Role::output_weight), "decoder.weight");
  EXPECT_EQ(model_->parameter_of(Role::output_bias), "decoder.bias");
  EXPECT_EQ(model_->parameter_of(Role::position_embedding), std::nullopt);
  EXPECT_EQ(model_->trainable(true).size(), 15u);
  EXPECT_EQ(model_->trainable(false).size(), 14u);
  // A state dict of a module that wraps all of it.
  NamedTensors wrapped;
  for (const auto& [name, tensor] : model_->parameters()) wrapped["module." + name] = tensor;
  write_safetensors(folder() / "model.safetensors", wrapped);
  EXPECT_EQ(load_model(folder()).hash, hash_of(model_->parameters()));
}

TEST_F(CharLstmFolder, CopiesShareNothingAndWithSharesTheRest) {
  const auto copy = model_->clone();
  at::Tensor bias = copy->parameters().at("decoder.bias");
  bias.add_(1);
  EXPECT_NE(hash_of(copy->parameters()), hash_of(model_->parameters()));
  const auto other = model_->with({{"decoder.bias", bias}});
  EXPECT_EQ(hash_of(other->parameters()), hash_of(copy->parameters()));
  EXPECT_EQ(other->parameters().at("decoder.weight").data_ptr(),
            model_->parameters().at("decoder.weight").data_ptr());
}

TEST_F(CharLstmFolder, NamesWhatIsWrongInTheConfig) {
  const struct {
    const char* key;
    json value;
    const char* message;
  } cases[] = {
      {"vocab_size", nullptr, "\"vocab_size\" is null"},
      {"vocab_size", 0, "\"vocab_size\" is 0, expected a whole number from 1"},
      {"vocab_size", 1 << 20, "\"vocab_size\" is 1048576, expected a whole number from 1 to 65536"},
      {"vocab_size", 18446744073709551615u, "\"vocab_size\" is 18446744073709551615, expected"},
      {"embedding_size", -1, "\"embedding_size\" is -1"},
      {"hidden_size", 1e30, "\"hidden_size\" is 1e+30"},
      {"hidden_size", 1 << 20, "\"hidden_size\" is 1048576, expected a whole number from 1 to 16384"},
      {"hidden_size", "128", "\"hidden_size\" is \"128\""},
      {"num_hidden_layers", 0, "\"num_hidden_layers\" is 0, expected a whole number from 1 to 64"},
      {"num_hidden_layers", 1 << 20, "\"num_hidden_layers\" is 1048576"},
      {"dropout", 1, "\"dropout\" is 1, expected a number from 0 to 0.999"},
      {"dropout", -0.1, "\"dropout\" is -0.1"},
      {"dropout", "some", "\"dropout\" is \"some\""},
      {"gate_order", {"input", "cell", "forget", "output"}, "\"gate_order\" is [\"input\",\"cell\""},
      {"bidirectional", true, "\"bidirectional\" is true, expected false"},
      {"proj_size", 7, "\"proj_size\" is 7, expected 0"},
      {"bias", false, "\"bias\" is false, expected true"},
      {"tie_word_embeddings", true, "\"tie_word_embeddings\" is true, expected false"},
  };
  const json good = json::parse(read_file(folder() / "config.json"));
  for (const auto& wrong : cases) {
    json config = good;
    config[wrong.key] = wrong.value;
    write_file(folder() / "config.json", config.dump());
    const std::string error = load_error();
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_NE(error.find("config.json"), std::string::npos) << error;
  }
}

TEST_F(CharLstmFolder, NamesWhatIsWrongInTheTensors) {
  const struct {
    std::function<void(NamedTensors&)> change;
    const char* message;
  } cases[] = {
      {[](NamedTensors& t) { t.erase("lstm.bias_hh_l1"); }, "lstm.bias_hh_l1"},
      {[](NamedTensors& t) {
         t["lstm.weight_ih_l3"] = at::zeros({76, 19});
       },
       "lstm.weight_ih_l3"},
      {[](NamedTensors& t) {
         t["lstm.weight_ih_l0"] = at::zeros({76, 7});
       },
       "\"lstm.weight_ih_l0\" has the shape (76, 7), expected (76, 6)"},
      {[](NamedTensors& t) { t["decoder.bias"][0] = std::nanf(""); }, "decoder.bias holds NaN or infinity"},
      {[](NamedTensors& t) { t["decoder.bias"] = at::zeros({11}, at::kInt); }, "expected floating point"},
  };
  for (const auto& wrong : cases) {
    NamedTensors tensors;
    for (const auto& [name, tensor] : model_->parameters()) tensors[name] = tensor.clone();
    wrong.change(tensors);
    write_safetensors(folder() / "model.safetensors", tensors);
    const std::string error = load_error();
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_NE(error.find("model.safetensors"), std::string::npos) << error;
  }
}

TEST_F(CharLstmFolder, NewOnesFitTheirTokenizerAndStartAsTorchStarts) {
  write_file(folder() / "new.json", R"({"model_type": "char-lstm", "vocab_size": 1})");
  const CharacterTokenizer tokenizer = build_characters(std::vector<std::string>{"abc def"});
  const auto model = new_model(folder() / "new.json", tokenizer, false, Seed(3));
  const CharLstmConfig& config = dynamic_cast<const CharLstm&>(*model).config();
  EXPECT_EQ(config.vocabulary, tokenizer.size());
  EXPECT_EQ(config.units, 128);
  EXPECT_EQ(config.layers, 3);
  EXPECT_EQ(config.dropout, 0.1);
  for (const auto& [name, tensor] : model->parameters()) {
    const double largest = tensor.abs().max().item<double>();
    const double deviation = tensor.std().item<double>();
    if (name == "embedding.weight") {
      EXPECT_NEAR(deviation, 1, 0.1);
      continue;
    }
    const double range = 1 / std::sqrt(128.0);
    EXPECT_LE(largest, range) << name;
    if (tensor.numel() > 100) {
      EXPECT_GT(largest, 0.97 * range) << name;
      EXPECT_NEAR(deviation, range / std::sqrt(3.0), 0.1 * range) << name;
    }
  }
  EXPECT_EQ(hash_of(model->parameters()),
            hash_of(new_model(folder() / "new.json", tokenizer, false, Seed(3))->parameters()));
  EXPECT_NE(hash_of(model->parameters()),
            hash_of(new_model(folder() / "new.json", tokenizer, false, Seed(4))->parameters()));
}

TEST_F(CharLstmFolder, RefusesPerturbationsThatAreNone) {
  for (const Perturbation& wrong :
       {Perturbation{.embedding_noise = -1}, Perturbation{.embedding_dropout = 1},
        Perturbation{.adversarial = std::nan("")}, Perturbation{.layer_dropout = 1.5}})
    EXPECT_NE(error_of([&] { model_->perturb(wrong); }).find("expected"), std::string::npos);
}

}  // namespace
}  // namespace undertext
