#include "federated/update.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

Update example() {
  Update update;
  update.protocol = {.kind = UpdateKind::weights,
                     .learning_rate = 0.1 + 0.2,  // needs all 17 digits
                     .epochs = 30,
                     .batch = 32,
                     .count = 256,
                     .reduction = Reduction::mean,
                     .zero_output_bias = true,
                     .base_hash = std::string(64, 'b')};
  update.tensors["cell.bias"] = torch::arange(6, torch::kFloat);
  update.tensors["decoder.weight"] = torch::randn({4, 3});
  return update;
}

class UpdateFile : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "update.safetensors"; }

  // The message of the UserError that loading ends in.
  std::string load_error() const {
    try {
      load_update(file());
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  void write(const std::function<void(TensorFile&)>& change) {
    save_update(example(), file());
    TensorFile content = read_safetensors(file());
    for (auto& [name, tensor] : content.tensors) tensor = tensor.clone();
    change(content);
    write_safetensors(file(), content.tensors, content.metadata);
  }

  TemporaryFolder folder_;
};

TEST_F(UpdateFile, ComesBackAsItWasSaved) {
  for (const bool weights : {true, false}) {
    Update saved = example();
    if (!weights) {
      saved.protocol.kind = UpdateKind::gradient;
      saved.protocol.reduction = Reduction::sum;
      saved.protocol.zero_output_bias = false;
    }
    save_update(saved, file());
    const Update loaded = load_update(file());
    EXPECT_EQ(loaded.protocol.kind, saved.protocol.kind);
    EXPECT_EQ(loaded.protocol.learning_rate, saved.protocol.learning_rate);
    EXPECT_EQ(loaded.protocol.epochs, 30);
    EXPECT_EQ(loaded.protocol.batch, 32);
    EXPECT_EQ(loaded.protocol.count, 256);
    EXPECT_EQ(loaded.protocol.reduction, saved.protocol.reduction);
    EXPECT_EQ(loaded.protocol.zero_output_bias, saved.protocol.zero_output_bias);
    EXPECT_EQ(loaded.protocol.base_hash, saved.protocol.base_hash);
    EXPECT_EQ(hash_of(loaded.tensors), hash_of(saved.tensors));
  }
}

TEST_F(UpdateFile, NamesWhatIsWrongInTheProtocol) {
  const struct {
    const char *key, *value, *message;
  } cases[] = {
      {"kind", nullptr, "metadata \"kind\" is missing"},
      {"kind", "secret", "metadata \"kind\" is \"secret\", expected weights or delta or gradient"},
      {"format", "pt", "metadata \"format\" is \"pt\", expected undertext-update-1"},
      {"learning_rate", "0", "\"learning_rate\" is \"0\", expected a positive number"},
      {"learning_rate", "nan", "\"learning_rate\" is \"nan\""},
      {"learning_rate", "inf", "\"learning_rate\" is \"inf\""},
      {"learning_rate", "1e-3x", "\"learning_rate\" is \"1e-3x\""},
      {"learning_rate", "1e999", "\"learning_rate\" is \"1e999\""},
      {"epochs", "0", "\"epochs\" is \"0\", expected a whole number from 1"},
      {"epochs", "99999999999999999999", "\"epochs\" is"},
      {"batch", "-1", "\"batch\" is \"-1\""},
      {"count", "", "\"count\" is \"\""},
      {"reduction", "max", "\"reduction\" is \"max\", expected sum or mean"},
      {"zero_output_bias", "1", "\"zero_output_bias\" is \"1\", expected false or true"},
      {"base_hash", "short", "\"base_hash\" is \"short\", expected 64 hexadecimal digits"},
      {"surprise", "x", "unknown metadata \"surprise\""},
  };
  for (const auto& wrong : cases) {
    write([&](TensorFile& content) {
      wrong.value ? void(content.metadata[wrong.key] = wrong.value) : void(content.metadata.erase(wrong.key));
    });
    const std::string error = load_error();
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_NE(error.find("update.safetensors"), std::string::npos) << error;
  }
}

TEST_F(UpdateFile, RefusesTensorsThatCannotBeTrainedWeights) {
  write(
      [](TensorFile& content) { content.tensors["cell.bias"][2] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_NE(load_error().find("cell.bias"), std::string::npos) << load_error();
  write(
      [](TensorFile& content) { content.tensors["cell.bias"][2] = std::numeric_limits<float>::infinity(); });
  EXPECT_NE(load_error().find("cell.bias"), std::string::npos) << load_error();
  write([](TensorFile& content) { content.tensors["cell.bias"] = torch::zeros({6}, torch::kLong); });
  EXPECT_NE(load_error().find("expected floating point"), std::string::npos) << load_error();
  write([](TensorFile& content) { content.tensors.clear(); });
  EXPECT_NE(load_error().find("no tensors"), std::string::npos) << load_error();
}

TEST_F(UpdateFile, RefusesWhatIsNotAnUpdate) {
  EXPECT_NE(load_error().find("update.safetensors"), std::string::npos);  // not there
  write_safetensors(file(), example().tensors);
  EXPECT_NE(load_error().find("\"format\" is missing"), std::string::npos) << load_error();
}

TEST_F(UpdateFile, LeavesNothingBehindWhereItCannotBeWritten) {
  EXPECT_THROW(save_update(example(), folder_ / "nowhere" / "update.safetensors"), UserError);
  EXPECT_TRUE(folder_.empty());
}

}  // namespace
}  // namespace undertext
