// undertext report: the page and the tables of an audit or of experiments, built again from what they left.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/experiment/reported.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "report/experiment_export.h"
#include "report/experiment_page.h"
#include "report/experiment_table.h"
#include "report/html_page.h"
#include "report/results.h"
#include "report/terminal_table.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path folder;
  std::string format = "table";
  bool json = false;
};

// What goes to stdout, in the format asked for.
std::string shown(const std::vector<ReportedExperiment>& experiments, const std::string& format) {
  if (format == "markdown") return experiment_markdown(experiments);
  if (format == "csv") return experiment_csv(experiments);
  if (format == "jsonl") return experiment_json_lines(experiments);
  return experiment_table(experiments, colour_wanted(), output_width());
}

void report_experiments(const Flags& flags) {
  const std::vector<ReportedExperiment> experiments = read_experiments(flags.folder);
  print_text(shown(experiments, flags.json ? "jsonl" : flags.format));
  write_file(flags.folder / "report.html", experiment_page(experiments));
}

void report_audit(const Flags& flags) {
  if (flags.format != "table")
    fail("--format {}: belongs to the experiments of undertext run; for an audit there is --json",
         flags.format);
  const nlohmann::json results = read_results(flags.folder / "results.json");
  const std::string page = html_page(results);
  flags.json ? print_json(results) : print_text(terminal_table(results, colour_wanted(), output_width()));
  write_file(flags.folder / "report.html", page);
}

int run(const Flags& flags) {
  if (!std::filesystem::is_directory(flags.folder))
    fail("{}: no such folder, expected one that undertext audit or undertext run wrote",
         flags.folder.string());
  const bool experiments = std::filesystem::exists(flags.folder / ResultStore::kFileName);
  if (!experiments && !std::filesystem::exists(flags.folder / "results.json"))
    fail("{}: neither results.json nor {}, expected a folder that undertext audit or undertext run wrote",
         flags.folder.string(), ResultStore::kFileName);
  experiments ? report_experiments(flags) : report_audit(flags);
  print_note(fmt::format("wrote {}", (flags.folder / "report.html").string()));
  return 0;
}

}  // namespace

Verb report_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "report", "Build the page of an audit or of experiments again, and show the table");
  const auto flags = std::make_shared<Flags>();
  app->add_option("folder", flags->folder, "folder that undertext audit or undertext run wrote")
      ->required()
      ->option_text("DIR");
  app->add_option(
         "--format", flags->format,
         "of experiments: table, markdown (means with their spread), csv or jsonl (every cell) (table)")
      ->check(CLI::IsMember({"table", "markdown", "csv", "jsonl"}))
      ->option_text("NAME");
  app->add_flag("--json", flags->json,
                "print JSON: one object of an audit, one for each cell of experiments");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
