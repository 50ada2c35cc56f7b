#include "federated/server_log.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/config_fields.h"

namespace undertext {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "undertext-server-1";

double number(const ConfigFields& fields, const std::string& key) {
  const json value = fields.value(key, json());
  if (!value.is_number()) fields.refuse(key, "a number");
  return value.get<double>();
}

std::vector<std::int64_t> clients(const ConfigFields& fields, const std::string& key) {
  std::vector<std::int64_t> list;
  const json value = fields.value(key, json());
  if (!value.is_array()) fields.refuse(key, "a list of clients");
  for (const json& client : value) {
    if (!client.is_number_unsigned()) fields.refuse(key, "a list of clients");
    list.push_back(client.get<std::int64_t>());
  }
  return list;
}

}  // namespace

void write_server_log(const ServerLog& log, const std::filesystem::path& file) {
  json rounds = json::array();
  for (const RoundOutcome& round : log.rounds)
    rounds.push_back({{"selected", round.selected},
                      {"answered", round.answered},
                      {"learning_rate", round.learning_rate},
                      {"loss", round.loss}});
  const json content = {
      {"format", kFormat}, {"recipe", log.recipe}, {"first_loss", log.first_loss}, {"rounds", rounds}};
  write_file(file, content.dump(1) + "\n");
}

std::optional<ServerLog> read_server_log(const std::filesystem::path& file, const std::string& recipe) {
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) return std::nullopt;
  const ConfigFields fields(file);
  if (fields.text("format", "") != kFormat) fields.refuse("format", kFormat);
  if (fields.text("recipe", "") != recipe)
    fail(
        "{}: the log of another federation (model, texts or settings differ); remove it and its folder to "
        "start anew",
        file.string());
  ServerLog log;
  log.recipe = recipe;
  log.first_loss = number(fields, "first_loss");
  const json rounds = fields.value("rounds", json());
  if (!rounds.is_array()) fields.refuse("rounds", "a list of rounds");
  for (const json& round : rounds) {
    const ConfigFields own(round, fmt::format("{}: round {}", file.string(), log.rounds.size() + 1));
    log.rounds.push_back({clients(own, "selected"), clients(own, "answered"), number(own, "learning_rate"),
                          number(own, "loss")});
  }
  return log;
}

}  // namespace undertext
