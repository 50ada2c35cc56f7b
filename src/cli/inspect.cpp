// undertext inspect: is this server state safe to train on?
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "defences/inspection.h"
#include "models/load_model.h"
#include "report/text_table.h"

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

const char* advice(InspectionVerdict verdict) {
  switch (verdict) {
    case InspectionVerdict::fit:
      return "Nothing that was looked for speaks against training on it. A server that hides better is not "
             "seen; noise "
             "added on the device protects in any case.";
    case InspectionVerdict::suspicious:
      return "Something about it is not as honest states are: ask where it comes from before training on it.";
    case InspectionVerdict::corrupted:
      return "It is laid out to spell its clients' texts into their updates: do not train on it.";
  }
  return "";
}

// All findings of a kind, the worst first.
struct Group {
  EvidenceKind kind;
  std::vector<const Evidence*> items;
};

std::vector<Group> groups_of(const Findings& findings, bool all) {
  std::vector<Group> groups;
  for (const Evidence& item : findings) {
    if (!item.counts() && !all) continue;
    const auto same = [&](const Group& group) {
      return group.kind == item.kind && group.items.front()->counts() == item.counts();
    };
    auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) found = groups.insert(groups.end(), {item.kind, {}});
    found->items.push_back(&item);
  }
  for (Group& group : groups)
    std::ranges::stable_sort(group.items, [](const Evidence* a, const Evidence* b) {
      return a->value / a->threshold > b->value / b->threshold;
    });
  return groups;
}

std::string text_of_group(const Group& group, bool all, const Painter& paint) {
  const EvidenceInfo& info = info_of(group.kind);
  const Evidence& worst = *group.items.front();
  const auto more = std::ssize(group.items) - 1;
  std::string text = fmt::format("\n  {}{}\n", paint(info.name, worst.counts() ? Tone::bold : Tone::plain),
                                 worst.counts() ? "" : " (as honest states have it)");
  for (const Evidence* item : group.items) {
    text += fmt::format("    {}: {}\n", item->tensor, item->says);
    if (!all) break;
  }
  if (more > 0 && !all)
    text += fmt::format("    and in {}\n", counted(more, "other tensor", "other tensors"));
  return text + fmt::format("    honest states: {:.3g} at most; counts from {:.3g} on\n", info.honest,
                            worst.threshold);
}

std::string text_of(const Flags& flags, const InspectionReport& report, const std::string& kind) {
  const Painter paint(colour_wanted());
  const Tone tone = report.verdict == InspectionVerdict::fit          ? Tone::safe
                    : report.verdict == InspectionVerdict::suspicious ? Tone::some_leak
                                                                      : Tone::leak;
  std::string text = fmt::format(
      "{}: {}\n{}\n\nmodel:         {}\nscore:         {:.3f} (suspicious from {} on, corrupted from {} on)\n"
      "false alarms:  {} of {} honest states; below {:.1f}% with 95% confidence\nevidence:      {}\n",
      flags.model.string(), paint(name_of(report.verdict), tone), advice(report.verdict), kind, report.score,
      kSuspicious, kCorrupted, kFalseAlarms, kHonestStates, 100 * kFalseAlarmBound,
      counted(std::ranges::count_if(report.findings, &Evidence::counts), "measurement", "measurements") +
          fmt::format(" of {} speak against it", report.findings.size()));
  for (const Group& group : groups_of(report.findings, flags.all))
    text += text_of_group(group, flags.all, paint);
  return text;
}

int run(const Flags& flags) {
  const LoadedModel state = load_model(flags.model);
  LoadedModel previous;
  if (!flags.previous.empty()) previous = load_model(flags.previous);
  const InspectionReport report =
      inspect(*state.model, {previous.model.get(), flags.previous.string(), flags.seed});
  flags.json ? print_json(json_of(flags, report, state.model->kind()))
             : print_text(text_of(flags, report, state.model->kind()));
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
