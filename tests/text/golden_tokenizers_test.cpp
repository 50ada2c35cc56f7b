// Hugging Face's own tokenizers, their files and what they make of texts; see ../shared.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "random_text.h"
#include "temporary_folder.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

const std::filesystem::path kShared = UNDERTEXT_SHARED;
const std::filesystem::path kFiles = kShared / "data/tokenizers";

class GoldenTokenizers : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    if (!std::filesystem::exists(kFiles)) GTEST_SKIP() << kFiles << " is not there";
    golden_ = nlohmann::json::parse(read_file(kShared / "golden/tokenizers.json"));
    ASSERT_GT(golden_.size(), 20u);
  }

  // Of the pair of files, of tokenizer.json, and of what we save.
  std::map<std::string, std::shared_ptr<const Tokenizer>> gpt2() const {
    std::map<std::string, std::shared_ptr<const Tokenizer>> forms;
    forms["tokenizer.json"] = load_tokenizer(kFiles / "gpt2");
    for (const char* name : {"vocab.json", "merges.txt"})
      std::filesystem::copy_file(kFiles / "gpt2" / name, folder_ / name);
    forms["vocab.json"] = load_tokenizer(folder_);
    forms["vocab.json"]->save(folder_);
    forms["saved"] = load_tokenizer(folder_);
    return forms;
  }

  nlohmann::json golden_;
};

TEST_F(GoldenTokenizers, Gpt2) {
  for (const auto& [form, tokenizer] : gpt2()) {
    EXPECT_EQ(tokenizer->size(), 50257) << form;
    EXPECT_EQ(tokenizer->special().start, 50256) << form;
    for (const nlohmann::json& entry : golden_) {
      const auto text = entry.at("text").get<std::string>();
      const auto ids = entry.at("gpt2").get<Sentence>();
      EXPECT_EQ(tokenizer->encode(text), ids) << form << ": " << text;
      EXPECT_EQ(tokenizer->decode(ids), entry.at("gpt2_decoded").get<std::string>()) << form;
    }
  }
}

TEST_F(GoldenTokenizers, Bert) {
  const auto tokenizer = load_tokenizer(kFiles / "bert-base-uncased");
  tokenizer->save(folder_);
  const auto saved = load_tokenizer(folder_);
  EXPECT_EQ(tokenizer->size(), 30522);
  EXPECT_EQ(tokenizer->special().mask, 103);
  for (const nlohmann::json& entry : golden_) {
    const auto text = entry.at("text").get<std::string>();
    EXPECT_EQ(tokenizer->encode(text), entry.at("bert").get<Sentence>()) << text;
    EXPECT_EQ(saved->encode(text), entry.at("bert").get<Sentence>()) << text;
  }
}

TEST_F(GoldenTokenizers, Gpt2GivesEveryTextBack) {
  const auto tokenizer = load_tokenizer(kFiles / "gpt2");
  for (const char* name : {"wikitext2/valid.txt", "enron/sentences.txt", "shakespeare/input.txt"}) {
    const std::string text = read_file(kShared / "data" / name);
    const Sentence tokens = tokenizer->encode(text);
    EXPECT_LT(tokens.size(), text.size() / 2) << name;
    EXPECT_TRUE(tokenizer->decode(tokens) == text) << name;
  }
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, random() % 100);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

}  // namespace
}  // namespace undertext
