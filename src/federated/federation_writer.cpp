#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "federated/federation_folder.h"
#include "federated/snapshot.h"
#include "models/new_model.h"
#include "tensors/mapping.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Every so many rounds one is packed by itself, and those up to the next as their distance to it: the
// smaller, the smaller the distances; the larger, the fewer that save little.
constexpr std::int64_t kBaseEvery = 8;

std::int64_t base_of(std::int64_t round) {
  return round / kBaseEvery * kBaseEvery;
}

std::string marks_of(const std::vector<TookPart>& parts) {
  std::string marks;
  for (const TookPart part : parts) marks += part == TookPart::yes ? '1' : part == TookPart::no ? '0' : '?';
  return marks;
}

}  // namespace

struct FederationWriter::State {
  fs::path folder;
  std::shared_ptr<const LanguageModel> model;
  json local;
  FederationFacts facts;
  // The snapshot that the next ones are packed against.
  std::int64_t base_round = 0;
  NamedTensors base;

  void write_facts() const {
    json rounds = json::array();
    for (const FederationFacts::Round& round : facts.rounds)
      rounds.push_back({{"sha256", round.sha256}, {"took_part", marks_of(round.took_part)}});
    const json content = {{"format", "undertext-federation-1"},
                          {"clients", facts.clients},
                          {"per_round", facts.per_round},
                          {"model", {{"kind", facts.model_kind}, {"hash", facts.model_hash}}},
                          {"local", local},
                          {"rounds", rounds}};
    write_file(folder / "federation.json", content.dump(1) + "\n");
  }

  // The tensors that a round is packed against, read again where this process did not write them.
  const NamedTensors& base_for(std::int64_t round) {
    if (const std::int64_t wanted = base_of(round); wanted != base_round || base.empty()) {
      base = read_round(folder, facts, *model, wanted);
      base_round = wanted;
    }
    return base;
  }
};

FederationWriter::FederationWriter(fs::path folder, const FederationParties& parties, std::int64_t per_round,
                                   const Tokenizer& tokenizer, json local)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->model = parties.model;
  state_->local = std::move(local);
  const fs::path& there = state_->folder;
  std::error_code ignored;
  if (fs::exists(there / "federation.json", ignored)) {
    state_->facts = read_facts(there);
    const std::string hash = hash_of(parties.model->parameters());
    if (state_->facts.model_hash != hash || state_->facts.clients != std::ssize(parties.clients))
      fail("{}: of another federation: its model is {:.12}, expected {:.12}", there.string(),
           state_->facts.model_hash, hash);
    return;
  }
  state_->facts.clients = std::ssize(parties.clients);
  state_->facts.per_round = per_round;
  state_->facts.model_kind = parties.model->kind();
  state_->facts.model_hash = hash_of(parties.model->parameters());
  // A folder of the model and no more is one whose making was interrupted.
  if (!fs::exists(there / "config.json", ignored)) save_model_folder(*parties.model, tokenizer, there);
  fs::create_directories(there / "rounds");
  state_->write_facts();
}

FederationWriter::~FederationWriter() = default;

std::int64_t FederationWriter::rounds() const {
  return std::ssize(state_->facts.rounds);
}

NamedTensors FederationWriter::round(std::int64_t number) const {
  return read_round(state_->folder, state_->facts, *state_->model, number);
}

void FederationWriter::write(std::int64_t number, const NamedTensors& tensors,
                             const std::vector<TookPart>& took_part) {
  UNDERTEXT_CHECK(number >= 1 && number <= rounds() + 1);
  const fs::path file = round_file(state_->folder, number);
  const std::int64_t base = base_of(number);
  if (base == number) {
    write_snapshot(file, tensors, state_->facts.model_hash, std::nullopt);
    state_->base = tensors;
    state_->base_round = number;
  } else {
    write_snapshot(file, tensors, state_->facts.model_hash, SnapshotBase{base, state_->base_for(number)});
  }
  state_->facts.rounds.resize(static_cast<std::size_t>(number - 1));
  state_->facts.rounds.push_back({sha256_of(map_file(file).view()), took_part});
  state_->write_facts();
}

}  // namespace undertext
