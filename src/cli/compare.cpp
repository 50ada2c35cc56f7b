// undertext compare: what got better or worse between two runs of experiments, and what is only chance.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/experiment/reported.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "report/comparison.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path first, second;
  bool json = false;
};

int run(const Flags& flags) {
  Comparison comparison = compare_experiments(read_experiments(flags.first), read_experiments(flags.second));
  comparison.first_name = flags.first.string();
  comparison.second_name = flags.second.string();
  flags.json ? print_json(comparison_json(comparison))
             : print_text(comparison_table(comparison, colour_wanted(), output_width()));
  return 0;
}

}  // namespace

Verb compare_verb(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("compare", "What leaks more or less in the second run than in the first");
  const auto flags = std::make_shared<Flags>();
  app->add_option("first", flags->first, "folder that undertext run wrote")->required()->option_text("DIR_A");
  app->add_option("second", flags->second, "another, of the same experiments")
      ->required()
      ->option_text("DIR_B");
  app->add_flag("--json", flags->json, "print one JSON object, with what does not differ too");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
