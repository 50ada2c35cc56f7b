#include "attacks/decepticons/key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

DecepticonKey some_key() {
  return {DecepticonDesign::paper, 6, 32, 4, 1e6, 0.001, ~std::uint64_t{0}, std::string(64, 'a')};
}

TEST(Key, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "key.json";
  save_key(some_key(), file);
  const DecepticonKey key = load_key(file);
  EXPECT_EQ(key.design, DecepticonDesign::paper);
  EXPECT_EQ(key.code, 6);
  EXPECT_EQ(key.positions, 32);
  EXPECT_EQ(key.window, 4);
  EXPECT_EQ(key.scale, 1e6);
  EXPECT_EQ(key.disguise, 0.001);
  EXPECT_EQ(key.seed, ~std::uint64_t{0});
  EXPECT_EQ(key.state_hash, std::string(64, 'a'));
}

TEST(Key, LiesBesideItsFolder) {
  EXPECT_EQ(key_file_of("a/state"), "a/state.key.json");
  EXPECT_EQ(key_file_of("a/state/"), "a/state.key.json");
  EXPECT_EQ(key_file_of("state"), "state.key.json");
}

TEST(Key, RefusesEveryFieldThatIsMissingOrWrong) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "key.json";
  save_key(some_key(), file);
  const nlohmann::json good = nlohmann::json::parse(read_file(file));
  const auto refused = [&](const std::string& content) {
    write_file(file, content);
    try {
      load_key(file);
      ADD_FAILURE() << content;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("key.json"), std::string::npos) << error.what();
    }
  };
  for (const auto& [name, value] : good.items()) {
    nlohmann::json changed = good;
    changed.erase(name);
    refused(changed.dump());
    for (const nlohmann::json& bad :
         {nlohmann::json(nullptr), nlohmann::json(-1), nlohmann::json("x"), nlohmann::json::array(),
          nlohmann::json::object(), nlohmann::json(1e40), nlohmann::json(true)}) {
      changed[name] = bad;
      refused(changed.dump());
    }
  }
  nlohmann::json changed = good;
  changed["state_hash"] = std::string(64, 'G');
  refused(changed.dump());
  changed["state_hash"] = std::string(63, 'a');
  refused(changed.dump());
  for (const char* content : {"", "[]", "{", "null", "\"key\"", "{}"}) refused(content);
  EXPECT_THROW(load_key(folder.path() / "none.json"), UserError);
}

}  // namespace
}  // namespace undertext
