#include "federated/federation_folder.h"

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "federated/snapshot.h"
#include "models/config_fields.h"
#include "models/load_model.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

// The facts that files of rounds are read by; base rounds are packed by themselves.
NamedTensors read_own(const fs::path& folder, const FederationFacts& facts, const LanguageModel& model,
                      std::int64_t round, bool is_base) {
  if (round == 0) return model.parameters();
  const fs::path file = round_file(folder, round);
  const SharedBytes bytes = map_file(file);
  const std::string& expected = facts.rounds.at(static_cast<std::size_t>(round - 1)).sha256;
  if (const std::string found = sha256_of(bytes.view()); found != expected)
    fail("{}: damaged, its SHA-256 is {:.12}, expected {:.12} as federation.json says", file.string(), found,
         expected);
  return read_snapshot(bytes, file, model, facts.model_hash, round, [&](std::int64_t base) {
    if (is_base) fail("{}: packed against round {}, expected one that stands by itself", file.string(), base);
    return read_own(folder, facts, model, base, true);
  });
}

}  // namespace

fs::path round_file(const fs::path& folder, std::int64_t round) {
  return folder / "rounds" / fmt::format("{:03}.safetensors", round);
}

NamedTensors read_round(const fs::path& folder, const FederationFacts& facts, const LanguageModel& model,
                        std::int64_t round) {
  if (round < 0 || round > std::ssize(facts.rounds))
    fail("{}: there is no round {}, expected 0 to {}", folder.string(), round, facts.rounds.size());
  return read_own(folder, facts, model, round, false);
}

FederationObservation open_federation(const fs::path& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    fail("{}: no such folder, expected one that undertext federate wrote", folder.string());
  auto facts = std::make_shared<const FederationFacts>(read_facts(folder));
  const ModelFolder loaded = load_model_folder(folder);
  if (loaded.model->kind() != facts->model_kind || loaded.hash != facts->model_hash)
    fail("{}: holds a {} {:.12}, expected the {} {:.12} that federation.json names", folder.string(),
         loaded.model->kind(), loaded.hash, facts->model_kind, facts->model_hash);
  FederationObservation observation;
  observation.clients = facts->clients;
  observation.rounds = std::ssize(facts->rounds);
  observation.tokenizer = loaded.tokenizer;
  for (const FederationFacts::Round& round : facts->rounds) observation.took_part.push_back(round.took_part);
  for (std::int64_t round = 1; round <= observation.rounds; ++round) {
    std::error_code ignored;
    if (const fs::path file = round_file(folder, round); !fs::exists(file, ignored))
      fail("{}: is missing, expected the model after each of {} rounds", file.string(), observation.rounds);
  }
  observation.model = [folder, facts, first = loaded.model](std::int64_t round) {
    if (round == 0) return std::shared_ptr<const LanguageModel>(first);
    return std::shared_ptr<const LanguageModel>(first->with(read_round(folder, *facts, *first, round)));
  };
  return observation;
}

}  // namespace undertext
