// undertext inspect: is this server state safe to train on?
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "defences/inspection.h"
#include "models/load_model.h"

namespace undertext {
namespace {

constexpr int kAlarm = 3;  // exit code of suspicious and corrupted states

struct Flags {
  std::filesystem::path model, previous;
  std::uint64_t seed = 1;
  bool all = false, json = false;
};

nlohmann::json json_of(const Flags& flags, const InspectionReport& report, const std::string& kind) {
  nlohmann::json evidence = nlohmann::json::array();
  for (const Evidence& item : report.findings) {
    if (!item.counts() && !flags.all) continue;
    evidence.push_back({{"tensor", item.tensor},
                        {"kind", info_of(item.kind).name},
                        {"value", item.value},
                        {"threshold", item.threshold},
                        {"counts", item.counts()},
                        {"weight", info_of(item.kind).weight},
                        {"honest", info_of(item.kind).honest},
                        {"says", item.says}});
  }
  return {{"verb", "inspect"},
          {"model", flags.model.string()},
          {"model_kind", kind},
          {"verdict", name_of(report.verdict)},
          {"score", report.score},
          {"false_alarm_rate", kFalseAlarmBound},
          {"honest_states", kHonestStates},
          {"false_alarms", kFalseAlarms},
          {"evidence", std::move(evidence)}};
}

std::string text_of(const Flags& flags, const InspectionReport& report) {
  return fmt::format("{}: {}\n", flags.model.string(), name_of(report.verdict));
}

int run(const Flags& flags) {
  const LoadedModel state = load_model(flags.model);
  LoadedModel previous;
  if (!flags.previous.empty()) previous = load_model(flags.previous);
  const InspectionReport report = inspect(*state.model, {previous.model.get(), flags.seed});
  flags.json ? print_json(json_of(flags, report, state.model->kind())) : print_text(text_of(flags, report));
  return report.verdict == InspectionVerdict::fit ? 0 : kAlarm;
}

}  // namespace

Verb inspect_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("inspect", "Is this server state fit to train on?");
  const auto flags = std::make_shared<Flags>();
  app->add_option("model", flags->model, "model folder that a server sent")->required()->option_text("DIR");
  app->add_option("--previous", flags->previous, "the state that it sent the round before")
      ->option_text("DIR");
  app->add_option("--seed", flags->seed, "seed of the random tokens that neurons are asked with (1)")
      ->option_text("N");
  app->add_flag("--all", flags->all, "show all that was measured, alarming or not");
  app->add_flag("--json", flags->json, "print one JSON object");
  app->footer("Exit code: 0 fit, 3 suspicious or corrupted, 2 nothing that can be inspected.");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
