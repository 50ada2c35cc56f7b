#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "models/cifg_lstm.h"
#include "models/load_model.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

const CifgConfig kTiny{.vocabulary = 11, .embedding = 4, .units = 5};

void write_vocabulary(const std::filesystem::path& folder, int words) {
  std::string text = "</S>\n<S>\n<UNK>\n";
  for (int i = 3; i < words; ++i) text += "w" + std::to_string(i) + "\n";
  write_file(folder / "vocab.txt", text);
}

// The message of the UserError that loading the folder ends in.
std::string load_error(const std::filesystem::path& folder) {
  try {
    load_model_folder(folder);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

class ModelFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    CifgLstm::random(kTiny, Seed(1))->save(folder());
    write_vocabulary(folder(), 11);
  }
  const std::filesystem::path& folder() const { return temporary_.path(); }

  void change_config(const std::string& key, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(read_file(folder() / "config.json"));
    if (value.is_null())
      config.erase(key);
    else
      config[key] = value;
    write_file(folder() / "config.json", config.dump());
  }
  void change_tensors(const std::function<void(NamedTensors&)>& change) {
    NamedTensors tensors = CifgLstm::load(folder())->parameters();
    change(tensors);
    write_safetensors(folder() / "model.safetensors", tensors);
  }

 private:
  TemporaryFolder temporary_;
};

TEST_F(ModelFolderTest, ComesBackAsItWasSaved) {
  const auto saved = CifgLstm::random(kTiny, Seed(1));
  const ModelFolder loaded = load_model_folder(folder());
  EXPECT_EQ(loaded.tokenizer->size(), 11);
  EXPECT_EQ(loaded.hash, hash_of(saved->parameters()));
  const auto& config = dynamic_cast<const CifgLstm&>(*loaded.model).config();
  EXPECT_EQ(config.units, 5);
  EXPECT_EQ(config.start, 1);
  EXPECT_FALSE(config.tied);
  // Parameters must be writable: the file's own bytes are mapped read-only.
  at::Tensor bias = loaded.model->parameters().at("decoder.bias");
  bias.add_(1);
}

TEST_F(ModelFolderTest, TiedModelsHaveNoOutputWeightOfTheirOwn) {
  CifgConfig config = kTiny;
  config.tied = true;
  CifgLstm::random(config, Seed(2))->save(folder());
  EXPECT_EQ(read_safetensors(folder() / "model.safetensors").tensors.count("decoder.weight"), 0u);
  const auto model = load_model(folder()).model;
  EXPECT_EQ(model->parameter_of(Role::output_weight), "embedding.weight");
  EXPECT_EQ(model->trainable(false),
            (std::vector<std::string>{"cell.bias", "cell.weight_hh", "cell.weight_ih", "decoder.bias",
                                      "proj.weight"}));
}

TEST_F(ModelFolderTest, OtherFloatingPointTypesAreConverted) {
  const NamedTensors before = CifgLstm::load(folder())->parameters();
  change_tensors([](NamedTensors& tensors) {
    tensors["proj.weight"] = tensors["proj.weight"].to(torch::kDouble);
    tensors["cell.bias"] = tensors["cell.bias"].to(torch::kHalf);
    tensors["cell.weight_ih"] = tensors["cell.weight_ih"].to(torch::kBFloat16);
  });
  const NamedTensors after = CifgLstm::load(folder())->parameters();
  EXPECT_TRUE(torch::equal(after.at("proj.weight"), before.at("proj.weight")));
  EXPECT_EQ(after.at("cell.bias").scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::allclose(after.at("cell.weight_ih"), before.at("cell.weight_ih"), 1e-2));
}

TEST_F(ModelFolderTest, RefusesAConfigThatIsNotOne) {
  write_file(folder() / "config.json", "{\"model_type\": ");
  EXPECT_NE(load_error(folder()).find("config.json: not a JSON object"), std::string::npos);
  write_file(folder() / "config.json", "[1]");
  EXPECT_NE(load_error(folder()).find("config.json: not a JSON object"), std::string::npos);
}

TEST_F(ModelFolderTest, NamesWhatIsWrongInTheConfig) {
  const struct {
    const char* key;
    nlohmann::json value;
    const char* message;
  } cases[] = {
      {"model_type", "gpt5", "\"model_type\" is \"gpt5\", expected cifg-lstm, char-lstm, gpt2, bert or "},
      {"model_type", nullptr, "\"model_type\" is missing"},
      {"model_type", 3, "\"model_type\" is 3, expected cifg-lstm"},
      {"vocab_size", nullptr, "\"vocab_size\" is missing"},
      {"vocab_size", -4, "\"vocab_size\" is -4, expected a whole number from 3"},
      {"vocab_size", 1e30, "\"vocab_size\" is 1e+30, expected a whole number"},
      {"vocab_size", 18446744073709551615u, "\"vocab_size\" is 18446744073709551615, expected"},
      {"hidden_size", "5", "\"hidden_size\" is \"5\", expected a whole number"},
      {"hidden_size", 0, "\"hidden_size\" is 0"},
      {"embedding_size", 4.5, "\"embedding_size\" is 4.5"},
      {"bos_token_id", 11, "\"bos_token_id\" is 11, expected a whole number from 0 to 10"},
      {"gate_order", {"cell", "forget", "output"}, "\"gate_order\" is [\"cell\",\"forget\",\"output\"]"},
      {"tie_word_embeddings", 1, "\"tie_word_embeddings\" is 1, expected true or false"},
  };
  const std::string good = read_file(folder() / "config.json");
  for (const auto& wrong : cases) {
    write_file(folder() / "config.json", good);
    change_config(wrong.key, wrong.value);
    const std::string error = load_error(folder());
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_NE(error.find("config.json"), std::string::npos) << error;
  }
}

TEST_F(ModelFolderTest, NamesWhatIsWrongInTheTensors) {
  const struct {
    std::function<void(NamedTensors&)> change;
    const char* message;
  } cases[] = {
      {[](NamedTensors& t) { t.erase("proj.weight"); }, "tensor \"proj.weight\" is missing"},
      {[](NamedTensors& t) { t["extra"] = torch::zeros({2}); }, "the model has no tensor \"extra\""},
      {[](NamedTensors& t) { t["cell.bias"] = torch::zeros({14}); },
       "tensor \"cell.bias\" has the shape (14), expected (15)"},
      {[](NamedTensors& t) { t["proj.weight"] = t["proj.weight"].t().contiguous(); },
       "tensor \"proj.weight\" has the shape (5, 4), expected (4, 5)"},
      {[](NamedTensors& t) { t["proj.bias"] = torch::zeros({4}, torch::kInt); }, "expected floating point"},
      {[](NamedTensors& t) { t["decoder.bias"][3] = std::numeric_limits<float>::quiet_NaN(); },
       "tensor decoder.bias holds NaN or infinity"},
      {[](NamedTensors& t) { t["decoder.bias"] = torch::full({11}, 1e300, torch::kDouble); },
       "tensor decoder.bias holds NaN or infinity in float32"},
  };
  for (const auto& wrong : cases) {
    SetUp();
    change_tensors(wrong.change);
    const std::string error = load_error(folder());
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_NE(error.find("model.safetensors"), std::string::npos) << error;
  }
}

TEST_F(ModelFolderTest, RefusesAVocabularyThatDoesNotFit) {
  write_vocabulary(folder(), 12);
  EXPECT_NE(load_error(folder()).find("vocab.txt: 12 words, expected 11"), std::string::npos);
  write_file(folder() / "vocab.txt", "</S>\nw\n<S>\n<UNK>\na\nb\nc\nd\ne\nf\ng\n");
  EXPECT_NE(load_error(folder()).find("<S> is word 2, expected 1"), std::string::npos);
}

TEST_F(ModelFolderTest, MayHaveMoreRowsThanTokens) {
  std::filesystem::remove(folder() / "vocab.txt");
  write_file(folder() / "characters.json", R"(["a", "b", "c"])");
  const ModelFolder loaded = load_model_folder(folder());
  EXPECT_EQ(loaded.tokenizer->size(), 11);
  EXPECT_EQ(loaded.tokenizer->token(10), "<unused 10>");
  EXPECT_EQ(loaded.tokenizer->decode(Sentence{2, 10, 0}), "c\uFFFDa");
  write_file(folder() / "characters.json", R"(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"])");
  EXPECT_NE(load_error(folder()).find("its tokenizer has 12 tokens, expected 11 at most"), std::string::npos);
}

TEST_F(ModelFolderTest, RefusesAFolderThatIsNotThere) {
  EXPECT_NE(load_error(folder() / "nowhere").find("no such folder"), std::string::npos);
  std::filesystem::remove(folder() / "model.safetensors");
  EXPECT_NE(load_error(folder()).find("model.safetensors"), std::string::npos);
}

class KeyboardModel : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path(UNDERTEXT_SHARED) / "data/gboard";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
    loaded_.emplace(load_model_folder(folder));
  }
  std::optional<ModelFolder> loaded_;
};

// The figures of the model's authors: what follows these words, and how surely.
TEST_F(KeyboardModel, PredictsWhatTheKeyboardDoes) {
  const auto& model = dynamic_cast<const CifgLstm&>(*loaded_->model);
  const struct {
    const char *text, *next;
    double probability;
  } cases[] = {{"how are", "you", 0.77}, {"thank you so", "much", 0.93}};
  for (const auto& wanted : cases) {
    auto state = model.step(model.start_state(1), std::vector<Token>{model.start_token()});
    for (const Token word : loaded_->tokenizer->encode(wanted.text))
      state = model.step(state, std::vector<Token>{word});
    const at::Tensor p = torch::softmax(model.logits(state.h), 1)[0];
    const auto best = static_cast<Token>(p.argmax().item<std::int64_t>());
    EXPECT_EQ(loaded_->tokenizer->token(best), wanted.next);
    EXPECT_NEAR(p[best].item<double>(), wanted.probability, 0.005);
  }
}

}  // namespace
}  // namespace undertext
