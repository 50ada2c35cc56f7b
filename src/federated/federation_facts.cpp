#include "federated/federation_facts.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/config_fields.h"

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

}  // namespace

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

}  // namespace undertext
