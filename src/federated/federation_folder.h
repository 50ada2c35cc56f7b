// A federation on disk, as every client of it sees it:
//   config.json, model.safetensors, tokenizer files   the model before the first round, as a model's folder
//   rounds/001.safetensors, ...                       the global model after each round (snapshot.h)
//   federation.json                                   how many clients, what they do, who took part when,
//                                                     and the SHA-256 of each round's file
// Nothing else: no seed, no text, no loss. What only the server, the owner of the truth or the adversary
// knows lies beside the folder.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "federated/federation.h"
#include "federated/federation_observation.h"

namespace undertext {

// What federation.json holds.
struct FederationFacts {
  struct Round {
    std::string sha256;  // of the round's file
    std::vector<TookPart> took_part;
  };
  std::int64_t clients = 0;
  std::int64_t per_round = 0;  // clients that are asked in a round; 0: not told
  std::string model_kind, model_hash;
  std::vector<Round> rounds;
};

// UserError that begins with `source` for whatever a federation.json may not hold.
FederationFacts parse_facts(std::string_view json, const std::string& source);
FederationFacts read_facts(const std::filesystem::path& folder);

// The file of a round from 1 on.
std::filesystem::path round_file(const std::filesystem::path& folder, std::int64_t round);

// The global model after a round, from 0 on, checked against the facts. model: the one before the first
// round.
NamedTensors read_round(const std::filesystem::path& folder, const FederationFacts& facts,
                        const LanguageModel& model, std::int64_t round);

// What an adversary among the clients sees. Checks that the model is the one that federation.json names and
// that no round's file is missing; the files themselves are checked when their models are asked for.
// UserError that names the file for whatever is not as it should be.
FederationObservation open_federation(const std::filesystem::path& folder);

// Writes such a folder round by round; at every moment it can be opened.
class FederationWriter {
 public:
  // local: what clients are told of their training. Makes the folder where it is not there.
  FederationWriter(std::filesystem::path folder, const FederationParties& parties, std::int64_t per_round,
                   const Tokenizer& tokenizer, nlohmann::json local);
  ~FederationWriter();
  FederationWriter(const FederationWriter&) = delete;
  FederationWriter& operator=(const FederationWriter&) = delete;

  // Rounds that are there already, and the model after one of them.
  std::int64_t rounds() const;
  NamedTensors round(std::int64_t number) const;
  // The round after `number` - 1, over whatever is there of it and later ones.
  void write(std::int64_t number, const NamedTensors& tensors, const std::vector<TookPart>& took_part);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace undertext
