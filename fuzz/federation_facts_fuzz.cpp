// federation.json, and a schedule of its rounds.
#include "base/error.h"
#include "federated/federation_folder.h"
#include "federated/selection.h"
#include "fuzz/target.h"

namespace undertext {

void try_input(std::string_view bytes) {
  if (bytes.starts_with("[")) {
    for (const auto& round : parse_schedule(bytes, "input"))
      for (const std::int64_t client : round) UNDERTEXT_CHECK(client >= 0);
    return;
  }
  const FederationFacts facts = parse_facts(bytes, "input");
  for (const FederationFacts::Round& round : facts.rounds)
    UNDERTEXT_CHECK(std::ssize(round.took_part) == facts.clients && round.sha256.size() == 64);
}

std::vector<std::string> seeds() {
  const std::string hash(64, 'a');
  const std::string head =
      R"({"format": "undertext-federation-1", "clients": 3, "per_round": 2, "model": {"kind": )"
      R"("char-lstm", "hash": ")" +
      hash + R"("}, "local": {}, "rounds": [)";
  const std::string round = R"({"sha256": ")" + hash + R"(", "took_part": "01?"})";
  return {head + "]}", head + round + "]}", head + round + ", " + round + "]}", "[[0, 1], [2]]"};
}

}  // namespace undertext
