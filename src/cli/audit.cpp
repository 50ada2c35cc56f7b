// undertext audit: the main job. Simulates clients, attacks and defends them, and reports.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "audit/keyboard_audit.h"
#include "audit/output_folder.h"
#include "audit/records_audit.h"
#include "audit/transformer_audit.h"
#include "audit/trials.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

struct Flags {
  std::string preset = "keyboard";
  std::filesystem::path model, texts, ids, out = "undertext-audit";
  std::vector<std::string> defences;  // empty: the preset's own
  std::uint64_t seed = 1;
  bool json = false;
};

// What all presets take.
template <typename Options>
Options options_of(const Flags& flags) {
  Options options;
  if (!flags.model.empty()) options.model = flags.model;
  if (!flags.texts.empty()) options.texts = flags.texts;
  if constexpr (requires { options.ids; })
    if (!flags.ids.empty()) options.ids = flags.ids;
  options.seed = flags.seed;
  options.note = [](const std::string& text) { print_note(text); };
  if (options.model) options.command += " --model " + flags.model.string();
  if (options.texts) options.command += " --texts " + flags.texts.string();
  if (!flags.ids.empty()) options.command += " --ids " + flags.ids.string();
  if (!flags.defences.empty()) {
    options.defences = flags.defences;
    options.command += " --defences";
    for (const std::string& spec : flags.defences)
      options.command += spec.find(' ') == std::string::npos ? " " + spec : " '" + spec + "'";
  }
  if (flags.seed != 1) options.command += fmt::format(" --seed {}", flags.seed);
  return options;
}

nlohmann::json results_of(const Flags& flags) {
  if (flags.preset == "transformer") return run_transformer_audit(options_of<TransformerAuditOptions>(flags));
  if (flags.preset != "records") return run_keyboard_audit(options_of<AuditOptions>(flags));
  if (!flags.ids.empty()) fail("--ids: records are planted in texts, expected --texts with --preset records");
  return run_records_audit(options_of<RecordsAuditOptions>(flags));
}

int run(const Flags& flags) {
  chosen_defences(flags.defences, {});  // a spec that is none is told before anything is trained
  const OutputFolder folder(flags.out);
  const nlohmann::json results = results_of(flags);
  folder.write(results);
  flags.json ? print_json(results) : print_text(terminal_table(results, colour_wanted(), output_width()));
  print_note(fmt::format("the page is {}, the numbers are in {}", folder.page().string(),
                         folder.results().string()));
  return 0;
}

}  // namespace

Verb audit_verb(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("audit", "Let clients train, attack their updates, try defences, report");
  const auto flags = std::make_shared<Flags>();
  app->add_option("--preset", flags->preset,
                  "what is audited: keyboard, a next-word model; transformer, and a malicious server; "
                  "records, a whole "
                  "federation seen by one of its clients (keyboard)")
      ->check(CLI::IsMember({"keyboard", "transformer", "records"}))
      ->option_text("NAME");
  app->add_option("--model", flags->model, "your model folder (a built-in one, trained on first use)")
      ->option_text("DIR");
  CLI::Option* texts = app->add_option("--texts", flags->texts, "your messages, one a line (built-in ones)")
                           ->option_text("FILE");
  app->add_option("--ids", flags->ids, "the same as token ids, instead of --texts: one JSON list a line")
      ->option_text("FILE")
      ->excludes(texts);
  app->add_option(
         "--defences", flags->defences,
         "which to try: all, none, or some such as dpsgd:sigma=0.5,clip=1; several that are on together "
         "stand in one argument, with blanks between (a few of the preset's)")
      ->expected(1, -1)
      ->option_text("all|none|SPEC...");
  app->add_option("--out", flags->out, "where results.json and report.html go (undertext-audit)")
      ->option_text("DIR");
  app->add_option("--seed", flags->seed, "seed of the messages and the noise (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print the results as one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
