// undertext defences: which there are, what they take, where they act.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/verb.h"
#include "defences/defence_kind.h"

namespace undertext {
namespace {

std::string range_of(const DefenceParameter& parameter) {
  if (!parameter.choices.empty()) return fmt::format("{}", fmt::join(parameter.choices, " or "));
  return fmt::format("{} to {}", parameter.low, parameter.high);
}

nlohmann::json listing() {
  nlohmann::json all = nlohmann::json::array();
  for (const DefenceKind& kind : defence_kinds()) {
    nlohmann::json settings = nlohmann::json::array();
    for (const DefenceParameter* parameter : parameters_of(kind.name))
      settings.push_back({{"name", parameter->name},
                          {"standard", parameter->standard},
                          {"range", range_of(*parameter)},
                          {"about", parameter->about}});
    all.push_back({{"name", kind.name},
                   {"title", kind.title},
                   {"side", name_of(kind.side)},
                   {"about", kind.about},
                   {"settings", std::move(settings)}});
  }
  return {{"verb", "defences"}, {"defences", std::move(all)}};
}

std::string text_of(const nlohmann::json& listing) {
  std::string text;
  for (const auto& kind : listing.at("defences")) {
    std::vector<std::string> settings;
    for (const auto& setting : kind.at("settings")) settings.push_back(setting.at("name"));
    text += fmt::format("{:<22} {}: {}{}\n", kind.at("name").get<std::string>(),
                        kind.at("side").get<std::string>(), kind.at("about").get<std::string>(),
                        settings.empty() ? "" : fmt::format(" [{}]", fmt::join(settings, ", ")));
  }
  text += "\nTheir settings:\n";
  for (const DefenceParameter& parameter : defence_parameters())
    text += fmt::format(
        "  {:<20} {} ({}; {} where not given)\n", parameter.name, parameter.about, range_of(parameter),
        parameter.standard.is_string() ? parameter.standard.get<std::string>() : parameter.standard.dump());
  return text + "\nAs flags: --defence dpsgd:clip=1,sigma=0.5, several times for several defences.\n";
}

}  // namespace

Verb defences_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("defences", "List the defences: what they take, where they act");
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print one JSON object");
  return {app, [json] {
            *json ? print_json(listing()) : print_text(text_of(listing()));
            return 0;
          }};
}

}  // namespace undertext
