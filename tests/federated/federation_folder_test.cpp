#include "federated/federation_folder.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "federated/federation_run.h"
#include "federated/small_federation.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class FederationFolders : public ::testing::Test {
 protected:
  FederationSummary run(std::int64_t rounds, const fs::path& folder, const AfterRound& after = {}) {
    const FederationOptions options = small_options(rounds);
    const auto trainers = thread_trainers(parties_, options);
    return run_federation(parties_, options, *thirty_words(), "", *trainers, place_at(folder), after);
  }

  std::string complaint(const std::function<void()>& body) {
    try {
      body();
    } catch (const UserError& error) {
      std::string message = error.what();
      const std::string where = folder_.path().string() + "/";
      for (std::size_t at = message.find(where); at != std::string::npos; at = message.find(where))
        message.erase(at, where.size());
      return message;
    }
    return "nothing";
  }

  // Opens it and reads all rounds.
  std::string complaint_of_reading() {
    return complaint([&] {
      const FederationObservation seen = open_federation(folder_ / "f");
      for (std::int64_t round = 0; round <= seen.rounds; ++round) seen.model(round);
    });
  }

  json facts() { return json::parse(read_file(folder_ / "f/federation.json")); }
  void set_facts(const json& facts) { write_file(folder_ / "f/federation.json", facts.dump()); }

  TemporaryFolder folder_;
  const FederationParties parties_ = small_parties();
};

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  return files;
}

TEST_F(FederationFolders, HoldWhatTheRunInMemoryShows) {
  const FederationSummary summary = run(20, folder_ / "f");
  EXPECT_EQ(summary.resumed_at, 0);
  const FederationOptions options = small_options(20);
  const auto trainers = thread_trainers(parties_, options);
  const SimulatedFederation memory = simulate_federation(parties_, options, thirty_words(), *trainers);
  const FederationObservation seen = open_federation(folder_ / "f");
  EXPECT_EQ(seen.clients, 4);
  ASSERT_EQ(seen.rounds, 20);
  EXPECT_EQ(seen.took_part, memory.observation.took_part);
  EXPECT_EQ(seen.tokenizer->size(), 30);
  for (std::int64_t round = 20; round >= 0; --round)
    EXPECT_EQ(hash_of(seen.model(round)->parameters()),
              hash_of(memory.observation.model(round)->parameters()))
        << round;
  // Any order, any thread.
  std::vector<std::string> hashes(21);
  parallel_for(21, [&](std::int64_t i) {
    hashes[static_cast<std::size_t>(i)] = hash_of(seen.model(i * 8 % 21)->parameters());
  });
  for (std::int64_t i = 0; i < 21; ++i)
    EXPECT_EQ(hashes[static_cast<std::size_t>(i)],
              hash_of(memory.observation.model(i * 8 % 21)->parameters()));
  EXPECT_NE(complaint([&] { seen.model(21); }).find("there is no round 21, expected 0 to 20"),
            std::string::npos);
}

TEST_F(FederationFolders, TellNothingButWhatClientsSee) {
  run(2, folder_ / "f");
  std::set<std::string> names;
  for (const auto& [name, content] : files_of(folder_ / "f")) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"config.json", "federation.json", "model.safetensors", "vocab.txt",
                                          "rounds/001.safetensors", "rounds/002.safetensors"}));
  std::set<std::string> keys;
  for (const auto& [key, value] : facts().items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"clients", "format", "local", "model", "per_round", "rounds"}));
  for (const json& round : facts().at("rounds")) EXPECT_EQ(round.size(), 2u);  // sha256, took_part
  EXPECT_FALSE(facts().at("local").contains("seed"));
  EXPECT_TRUE(fs::exists(folder_ / "f.server.json"));
}

// Whatever moment a run ends at, the next one goes on from the last whole round.
TEST_F(FederationFolders, GoOnToTheSameBytes) {
  run(11, folder_ / "whole");
  const auto whole = files_of(folder_ / "whole");
  for (const std::size_t stop : {0u, 1u, 7u, 8u, 9u, 10u}) {
    const std::string name = "f" + std::to_string(stop);
    EXPECT_THROW(run(11, folder_ / name,
                     [&](const FederationServer& server) {
                       if (server.progress().rounds.size() == stop) throw std::runtime_error("killed");
                     }),
                 std::runtime_error);
    if (stop % 2 == 1) {  // as when it dies in between: the folder is a round ahead of the log
      json log = json::parse(read_file(folder_ / (name + ".server.json")));
      log.at("rounds").erase(stop - 1);
      write_file(folder_ / (name + ".server.json"), log.dump());
      write_file(folder_ / name / "rounds" / ".012.safetensors.1-1.tmp", "half");
    }
    const FederationSummary summary = run(11, folder_ / name);
    EXPECT_EQ(summary.resumed_at, static_cast<std::int64_t>(stop - stop % 2));
    EXPECT_EQ(files_of(folder_ / name), whole) << stop;
    EXPECT_EQ(read_file(folder_ / (name + ".server.json")), read_file(folder_ / "whole.server.json"));
  }
  // What is done is not done again, and more rounds may follow.
  EXPECT_EQ(run(11, folder_ / "whole").resumed_at, 11);
  EXPECT_EQ(files_of(folder_ / "whole"), whole);
  EXPECT_EQ(run(13, folder_ / "whole").resumed_at, 11);
  EXPECT_EQ(open_federation(folder_ / "whole").rounds, 13);
  EXPECT_NE(complaint([&] { run(11, folder_ / "whole"); }).find("holds 13 rounds already"),
            std::string::npos);
}

TEST_F(FederationFolders, OfAnotherFederationAreRefused) {
  run(2, folder_ / "f");
  FederationOptions options = small_options(2);
  options.seed = Seed(8);
  const auto trainers = thread_trainers(parties_, options);
  const auto again = [&](const FederationOptions& asked, const std::string& recipe, const fs::path& folder) {
    return complaint(
        [&] { run_federation(parties_, asked, *thirty_words(), recipe, *trainers, place_at(folder)); });
  };
  EXPECT_NE(again(options, "", folder_ / "f").find("f.server.json: the log of another federation"),
            std::string::npos);
  EXPECT_NE(again(small_options(2), "noise", folder_ / "f").find("another federation"), std::string::npos);
  fs::create_directory(folder_ / "mine");
  write_file(folder_ / "mine/letter.txt", "dear all");
  EXPECT_EQ(again(small_options(2), "", folder_ / "mine"), "mine: is there already, expected a new folder");
  EXPECT_FALSE(fs::exists(folder_ / "mine.server.json"));
  EXPECT_NE(again(small_options(2), "", folder_ / "no/where").find("does not exist"), std::string::npos);
}

TEST_F(FederationFolders, TwoProcessesDoNotShareOne) {
  std::string inner;
  run(2, folder_ / "f", [&](const FederationServer&) {
    if (inner.empty()) inner = complaint([&] { run(2, folder_ / "f"); });
  });
  EXPECT_EQ(inner, "f: another process runs this federation");
}

TEST_F(FederationFolders, RoundsOfAnotherKindOfFileAreReadToo) {
  run(3, folder_ / "f");
  const auto before = open_federation(folder_ / "f").model(2);
  write_safetensors(folder_ / "f/rounds/002.safetensors", before->parameters());
  json changed = facts();
  changed["rounds"][1]["sha256"] = sha256_of(read_file(folder_ / "f/rounds/002.safetensors"));
  changed["rounds"][1]["took_part"] = "1??0";
  set_facts(changed);
  const FederationObservation seen = open_federation(folder_ / "f");
  EXPECT_EQ(hash_of(seen.model(2)->parameters()), hash_of(before->parameters()));
  EXPECT_EQ(seen.took_part[1],
            (std::vector<TookPart>{TookPart::yes, TookPart::unknown, TookPart::unknown, TookPart::no}));
}

TEST_F(FederationFolders, DamagedFilesAreToldByName) {
  run(9, folder_ / "f");
  const fs::path file = folder_ / "f/rounds/004.safetensors";
  const std::string good = read_file(file);
  EXPECT_EQ(complaint_of_reading(), "nothing");
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, good.size() / 2, good.size() - 1}) {
    write_file(file, good.substr(0, length));
    EXPECT_TRUE(complaint_of_reading().starts_with("f/rounds/004.safetensors: ")) << length;
  }
  std::string flipped = good;
  flipped[good.size() - 9] ^= 1;
  write_file(file, flipped);
  EXPECT_NE(complaint_of_reading().find("004.safetensors: damaged, its SHA-256 is"), std::string::npos);
  fs::remove(file);
  EXPECT_EQ(complaint_of_reading(),
            "f/rounds/004.safetensors: is missing, expected the model after each of 9 rounds");
  write_file(file, good);
  // A round's base is damaged: the rounds that need it say so.
  const fs::path base = folder_ / "f/rounds/008.safetensors";
  std::string other = read_file(base);
  other[other.size() - 9] ^= 1;
  write_file(base, other);
  const FederationObservation seen = open_federation(folder_ / "f");
  EXPECT_NE(complaint([&] { seen.model(9); }).find("008.safetensors: damaged"), std::string::npos);
  EXPECT_EQ(complaint([&] { seen.model(7); }), "nothing");
}

TEST_F(FederationFolders, SnapshotsOfAnotherModelAreRefused) {
  run(2, folder_ / "f");
  const NamedTensors good = open_federation(folder_ / "f").model(2)->parameters();
  const auto put = [&](const NamedTensors& tensors, const Metadata& metadata = {}, std::int64_t round = 2) {
    write_safetensors(round_file(folder_ / "f", round), tensors, metadata);
    json changed = facts();
    changed["rounds"][static_cast<std::size_t>(round - 1)]["sha256"] =
        sha256_of(read_file(round_file(folder_ / "f", round)));
    set_facts(changed);
    return complaint_of_reading();
  };
  EXPECT_EQ(put(good), "nothing");
  NamedTensors tensors = good;
  tensors.erase("decoder.bias");
  EXPECT_NE(put(tensors).find("another model: tensor decoder.bias is missing"), std::string::npos);
  tensors = good;
  tensors["more"] = torch::zeros({2});
  EXPECT_NE(put(tensors).find("another model: it holds \"more\""), std::string::npos);
  tensors = good;
  tensors["decoder.bias"] = torch::zeros({31});
  EXPECT_NE(put(tensors).find("has shape (31), expected (30)"), std::string::npos);
  tensors = good;
  tensors["decoder.bias"] = torch::zeros({30}, torch::kLong);
  EXPECT_NE(put(tensors).find("expected floating point"), std::string::npos);
  tensors = good;
  tensors["decoder.bias"] = torch::full({30}, std::nanf(""));
  EXPECT_NE(put(tensors).find("decoder.bias"), std::string::npos);
  tensors = good;
  tensors["decoder.bias"] = torch::zeros({30}, torch::kByte);
  EXPECT_NE(put(tensors).find("packed numbers"), std::string::npos);
  EXPECT_NE(put(good, {{"model", std::string(64, 'a')}}).find("of another federation"), std::string::npos);
  for (const char* base : {"2", "3", "-1", "x", "", "99999999999999999999"})
    EXPECT_NE(put(good, {{"base", base}}).find("expected a round before 2"), std::string::npos) << base;
  // A base that itself has one would make reading a round read them all.
  EXPECT_EQ(put(good, {{"base", "0"}}, 1), "nothing");
  EXPECT_EQ(put(good, {{"base", "1"}}),
            "f/rounds/001.safetensors: packed against round 0, expected one that stands by itself");
}

TEST_F(FederationFolders, WrongFactsAreToldByName) {
  run(2, folder_ / "f");
  const json good = facts();
  const auto with = [&](const json& patch) {
    json changed = good;
    changed.merge_patch(patch);
    set_facts(changed);
    return complaint_of_reading();
  };
  EXPECT_EQ(with(json::object()), "nothing");
  EXPECT_NE(with({{"format", "undertext-federation-2"}}).find("\"format\" is"), std::string::npos);
  EXPECT_NE(with({{"clients", 0}}).find("\"clients\" is 0"), std::string::npos);
  EXPECT_NE(with({{"clients", 5}}).find("round 1: \"took_part\" is no text of 5 marks"), std::string::npos);
  EXPECT_NE(with({{"clients", "4"}}).find("\"clients\""), std::string::npos);
  EXPECT_NE(with({{"per_round", 9}}).find("\"per_round\""), std::string::npos);
  EXPECT_NE(with({{"model", {{"hash", "abc"}}}}).find("64 hexadecimal digits"), std::string::npos);
  EXPECT_NE(with({{"model", {{"hash", std::string(64, '0')}}}}).find("that federation.json names"),
            std::string::npos);
  EXPECT_NE(with({{"model", {{"kind", "gpt2"}}}}).find("holds a cifg-lstm"), std::string::npos);
  EXPECT_NE(with({{"rounds", 3}}).find("\"rounds\" is 3"), std::string::npos);
  EXPECT_NE(with({{"rounds", {3}}}).find("round 1: not a JSON object"), std::string::npos);
  json third = good;
  third["rounds"].push_back(good.at("rounds").at(0));
  set_facts(third);
  EXPECT_NE(complaint_of_reading().find("rounds/003.safetensors: is missing"), std::string::npos);
  json mark = good;
  mark["rounds"][0]["took_part"] = "01x0";
  set_facts(mark);
  EXPECT_NE(complaint_of_reading().find("holds \"x\", expected 0, 1 or ?"), std::string::npos);
  for (const char* text : {"", "[]", "{\"format\":", "null"}) {
    write_file(folder_ / "f/federation.json", text);
    EXPECT_NE(complaint_of_reading().find("federation.json: not a JSON object"), std::string::npos) << text;
  }
  fs::remove(folder_ / "f/federation.json");
  EXPECT_NE(complaint_of_reading().find("f: no federation.json"), std::string::npos);
  EXPECT_NE(complaint([&] { open_federation(folder_ / "none"); }).find("none: no such folder"),
            std::string::npos);
}

}  // namespace
}  // namespace undertext
