// undertext report: build the page of an audit again.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "report/html_page.h"
#include "report/results.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path folder;
  bool json = false;
};

void run(const Flags& flags) {
  if (!std::filesystem::is_directory(flags.folder))
    fail("{}: no such folder, expected one that undertext audit wrote", flags.folder.string());
  const nlohmann::json results = read_results(flags.folder / "results.json");
  const std::filesystem::path page = flags.folder / "report.html";
  write_file(page, html_page(results));
  flags.json ? print_json(results) : print_text(terminal_table(results, colour_wanted(), output_width()));
  print_note(fmt::format("wrote {}", page.string()));
}

}  // namespace

Verb report_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("report", "Build the page of an audit again, and show its table");
  const auto flags = std::make_shared<Flags>();
  app->add_option("folder", flags->folder, "folder that undertext audit wrote")
      ->required()
      ->option_text("DIR");
  app->add_flag("--json", flags->json, "print the results as one JSON object");
  return {app, [flags] { run(*flags); }};
}

}  // namespace undertext
