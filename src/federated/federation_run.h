// A federation run to its end: into a folder, so that it survives being killed, or in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "federated/federation.h"
#include "federated/federation_observation.h"

namespace undertext {

// Where a federation is kept. The log is the server's own and lies outside the folder.
struct FederationPlace {
  std::filesystem::path folder;
  std::filesystem::path log;
};
// The log beside the folder: DIR.server.json.
FederationPlace place_at(const std::filesystem::path& folder);

struct FederationSummary {
  FederationProgress progress;
  bool stopped_early = false;
  std::int64_t resumed_at = 0;  // rounds that were there already
};

// After each round, and once at the beginning, with what is done; what it throws ends the run.
using AfterRound = std::function<void(const FederationServer& server)>;

// Goes on where an earlier call with the same arguments was interrupted, at whatever moment: in the end all
// files are the same, byte by byte. More rounds than before may be asked for, everything else must be as it
// was. UserError where another federation is in the place, or another process is at it.
// recipe: a name for everything that the parties do not show, which is what their defences do.
FederationSummary run_federation(const FederationParties& parties, const FederationOptions& options,
                                 const Tokenizer& tokenizer, const std::string& recipe,
                                 ClientTrainers& trainers, const FederationPlace& place,
                                 const AfterRound& after_round = {});

// All in memory, every round's model too.
struct SimulatedFederation {
  FederationSummary summary;
  FederationObservation observation;
};
SimulatedFederation simulate_federation(const FederationParties& parties, const FederationOptions& options,
                                        std::shared_ptr<const Tokenizer> tokenizer, ClientTrainers& trainers,
                                        const AfterRound& after_round = {});

}  // namespace undertext
