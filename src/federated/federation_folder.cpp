#include "federated/federation_folder.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "federated/snapshot.h"
#include "models/config_fields.h"
#include "models/load_model.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "undertext-federation-1";
constexpr std::int64_t kMost = 1'000'000;                      // clients, rounds
constexpr std::size_t kLargestFacts = std::size_t{256} << 20;  // bytes

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<TookPart> parsed_parts(const json& text, std::int64_t clients, const std::string& where) {
  const auto* marks = text.get_ptr<const std::string*>();
  if (marks == nullptr || std::ssize(*marks) != clients)
    fail("{}: \"took_part\" is no text of {} marks, one a client", where, clients);
  std::vector<TookPart> parts;
  for (const char mark : *marks) {
    if (mark != '0' && mark != '1' && mark != '?')
      fail("{}: \"took_part\" holds {}, expected 0, 1 or ?", where, quote(std::string(1, mark)));
    parts.push_back(mark == '1' ? TookPart::yes : mark == '0' ? TookPart::no : TookPart::unknown);
  }
  return parts;
}

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

FederationFacts parse_facts(std::string_view text, const std::string& source) {
  const ConfigFields fields(json::parse(text, nullptr, false), source);
  if (fields.text("format", "") != kFormat) fields.refuse("format", kFormat);
  FederationFacts facts;
  facts.clients = fields.whole("clients", 1, kMost + 1);
  facts.per_round = fields.whole("per_round", 0, facts.clients + 1, 0);
  const ConfigFields model(fields.value("model", json()), source + ": \"model\"");
  facts.model_kind = model.text("kind", "");
  facts.model_hash = model.text("hash", "");
  if (!is_sha256(facts.model_hash)) model.refuse("hash", "64 hexadecimal digits");
  const json rounds = fields.value("rounds", json());
  if (!rounds.is_array() || std::ssize(rounds) > kMost) fields.refuse("rounds", "a list of rounds");
  for (const json& round : rounds) {
    const std::string where = fmt::format("{}: round {}", source, facts.rounds.size() + 1);
    const ConfigFields own(round, where);
    FederationFacts::Round made;
    made.sha256 = own.text("sha256", "");
    if (!is_sha256(made.sha256)) own.refuse("sha256", "64 hexadecimal digits");
    made.took_part = parsed_parts(own.value("took_part", json()), facts.clients, where);
    facts.rounds.push_back(std::move(made));
  }
  return facts;
}

FederationFacts read_facts(const fs::path& folder) {
  const fs::path file = folder / "federation.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    fail("{}: no federation.json, expected a folder that undertext federate wrote", folder.string());
  return parse_facts(read_file(file, kLargestFacts), file.string());
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
