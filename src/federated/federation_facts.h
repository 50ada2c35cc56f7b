// federation.json: what a federation's folder says of itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace undertext
