#include "cli/experiment_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "audit/experiment/freeze.h"
#include "audit/experiment/schema.h"
#include "cli/output.h"

namespace undertext {
namespace {

std::string state_of(const ResultStore::Standing& standing) {
  return standing.attempts == 0 ? "pending" : standing.failed ? "failed" : "done";
}

}  // namespace

std::string key_listing() {
  std::string text;
  for (const Section& section : sections()) {
    text += fmt::format(
        "{}\n", section.list ? fmt::format("[[{}]]", section.name) : fmt::format("[{}]", section.name));
    for (const Field& field : section.fields) {
      std::string choices;
      if (!field.choices.empty())
        choices = fmt::format(" ({}{})", field.type == FieldType::text ? "" : "a number or ",
                              fmt::join(field.choices, ", "));
      text += fmt::format("  {:<18} = {:<20} # {}{}\n", field.name, field.fallback.dump(), field.meaning,
                          choices);
    }
  }
  return text +
         "\nAny value may be a list, or a range {from, to, steps, scale = \"log\"}: all combinations are "
         "run.\n"
         "name, title, source and says tell what the experiment is; [[plot]] draws it: kind (line, scatter,\n"
         "magnitudes, words), title, x, y, series, facet, log_x, where. [profile.NAME] holds values that "
         "--profile\n"
         "NAME puts over these, and each [[variant]] values for one more grid. Sections in two brackets may "
         "come\n"
         "several times: each is one more choice.\n";
}

std::string cell_listing(const std::vector<FrozenExperiment>& experiments, const std::filesystem::path& out) {
  std::optional<ResultStore> store;
  std::error_code ignored;
  if (std::filesystem::exists(out / ResultStore::kFileName, ignored))
    store.emplace(out, ResultStore::Access::read);
  std::string text;
  for (const FrozenExperiment& experiment : experiments) {
    text += fmt::format("{}: {}\n", experiment.name,
                        counted(static_cast<std::int64_t>(experiment.cells.size()), "cell", "cells"));
    const std::vector<std::string> keys = keys_of(experiment.cells);
    std::vector<ResultStore::Standing> standings(keys.size());
    if (store) standings = store->standings(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const nlohmann::json& config = experiment.cells[i].config;
      text +=
          fmt::format("  {}  {:<7}  {} seed {}", keys[i].substr(0, 12), state_of(standings[i]),
                      config.at("texts").at("files").get<std::string>(), config.at("run").at("seed").dump());
      if (const std::int64_t client = config.at("texts").value("client", 0); client != 0)
        text += fmt::format(" client {}", client);
      for (const nlohmann::json& axis : experiment.facts.at("axes")) {
        const nlohmann::json value = value_of(config, axis);
        if (!value.is_null())
          text += fmt::format(" {}={}", axis.get<std::string>(),
                              value.is_string() ? value.get<std::string>() : value.dump());
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace undertext
