#include "audit/public_model.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "small_audit.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

class PublicModel : public testing::Test {
 protected:
  std::string train() {
    notes_.clear();
    return public_model(small_recipe(), folder_ / "cache",
                        [&](const std::string& text) { notes_.push_back(text); })
        .hash;
  }
  fs::path cached() const {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache")) entries.push_back(entry.path());
    EXPECT_EQ(entries.size(), 1) << "nothing but the model";
    return entries.at(0);
  }

  TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(PublicModel, IsTrainedOnceAndThenRead) {
  const std::string first = train();
  EXPECT_EQ(notes_.size(), 1);
  EXPECT_EQ(train(), first);
  EXPECT_TRUE(notes_.empty()) << notes_[0];
  EXPECT_EQ(load_model_folder(cached()).hash, first);
}

TEST_F(PublicModel, BrokenCacheIsMadeAgain) {
  const std::string first = train();
  const fs::path folder = cached();
  const std::string weights = read_file(folder / "model.safetensors");
  std::string flipped = weights;
  flipped[flipped.size() - 7] ^= 1;  // a weight that is as good as any other
  const std::pair<std::string, std::string> damages[] = {
      {"model.safetensors", weights.substr(0, weights.size() / 2)},
      {"model.safetensors", flipped},
      {"vocab.txt", "</S>\n<S>\n<UNK>\n"},
      {"config.json", "{}"},
      {"undertext.json", "[1"},
  };
  for (const auto& [file, content] : damages) {
    write_file(folder / file, content);
    EXPECT_EQ(train(), first) << file;
    EXPECT_EQ(notes_.size(), 1) << file;
    EXPECT_EQ(read_file(cached() / "model.safetensors"), weights) << file;
  }
  fs::remove(folder / "vocab.txt");
  EXPECT_EQ(train(), first);
  EXPECT_TRUE(fs::exists(folder / "vocab.txt"));
}

TEST_F(PublicModel, AnotherRecipeIsAnotherModel) {
  train();
  PublicModelRecipe other = small_recipe();
  other.training.learning_rate *= 2;
  public_model(other, folder_ / "cache", [&](const std::string& text) { notes_.push_back(text); });
  EXPECT_EQ(notes_.size(), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "cache"), {}), 2);
}

TEST_F(PublicModel, CacheThatCannotBeWrittenCostsTimeAlone) {
  write_file(folder_ / "cache", "a file in the way");
  train();
  ASSERT_EQ(notes_.size(), 2);
  EXPECT_NE(notes_[1].find("not kept"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "cache"), "a file in the way");
}

}  // namespace
}  // namespace undertext
