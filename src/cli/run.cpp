// undertext run: experiments by their files, resumable, in this process or under mpirun.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "audit/experiment/experiment_file.h"
#include "audit/experiment/freeze.h"
#include "audit/experiment/reported.h"
#include "audit/output_folder.h"
#include "audit/run/mpi_run.h"
#include "audit/run/run_cells.h"
#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"
#include "cli/experiment_listing.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "report/experiment_export.h"
#include "report/experiment_page.h"
#include "report/experiment_table.h"

namespace undertext {
namespace {

struct Flags {
  std::vector<std::filesystem::path> files;
  std::string profile;
  std::vector<std::string> sets;
  std::filesystem::path out = "undertext-run";
  std::int64_t limit = 0;
  int jobs = 1;
  bool dry_run = false, retry = false, keys = false, json = false;
};

std::atomic<bool> interrupted = false;

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = SA_RESETHAND;  // a second one ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// As the shell would need it again.
std::string shell_word(const std::string& word) {
  static constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string command_of(const Flags& flags, const std::filesystem::path& file) {
  std::string command = "undertext run " + shell_word(file.string());
  if (!flags.profile.empty()) command += " --profile " + shell_word(flags.profile);
  for (const std::string& set : flags.sets) command += " --set " + shell_word(set);
  return command + " --out " + shell_word(flags.out.string());
}

std::vector<FrozenExperiment> freeze_all(const Flags& flags, Sources& sources) {
  std::vector<FrozenExperiment> all;
  std::set<std::string> names;
  for (const std::filesystem::path& file : flags.files) {
    const ExperimentRequest request{file, flags.profile, flags.sets};
    const ExperimentFile read = read_experiment(request);
    if (!names.insert(read.name).second)
      fail("{}: another file of this run has the name {} too", file.string(), quote(read.name));
    all.push_back(freeze_experiment(read, request, sources, command_of(flags, file)));
  }
  return all;
}

// Experiments may share cells: each once.
std::vector<FrozenCell> cells_of(const std::vector<FrozenExperiment>& experiments) {
  std::vector<FrozenCell> cells;
  std::set<std::string> seen;
  for (const FrozenExperiment& experiment : experiments)
    for (const FrozenCell& cell : experiment.cells)
      if (seen.insert(cell.key).second) cells.push_back(cell);
  return cells;
}

void say_change(const FrozenExperiment& experiment, const FreezeChange& change) {
  if (change.first || (change.added == 0 && change.dropped == 0)) return;
  print_note(fmt::format("{} has changed since it was last run: {} new, {} no longer part of it",
                         experiment.name, counted(change.added, "cell is", "cells are"), change.dropped));
}

void say_summary(const RunSummary& summary, const Flags& flags) {
  std::string text = summary.stopped ? "stopped by a signal, as when a rank of an MPI run dies: " : "";
  text += fmt::format("{} of {} done", summary.before + summary.ran - summary.failed,
                      counted(summary.cells, "cell", "cells"));
  if (summary.before > 0) text += fmt::format(" ({} before this run)", summary.before);
  if (summary.failed > 0) text += fmt::format(", {} failed", summary.failed);
  if (summary.skipped > 0)
    text += fmt::format(", {} failed before (--retry runs them again)", summary.skipped);
  if (summary.elsewhere > 0) text += fmt::format(", {} in another process", summary.elsewhere);
  if (summary.left() > 0) text += fmt::format(", {} left: the same command goes on", summary.left());
  print_note(fmt::format("{}; {}", text, (flags.out / ResultStore::kFileName).string()));
}

// The results are on disk and the lock goes with the process: nothing waits for cells under way.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  std::_Exit(code);
}

RunSummary run_all(ResultStore& store, const std::vector<FrozenExperiment>& experiments, Workers& workers,
                   const Flags& flags) {
  try {
    for (const FrozenExperiment& experiment : experiments) say_change(experiment, store.freeze(experiment));
    RunOptions options;
    options.retry = flags.retry;
    options.limit = flags.limit;
    options.stopped = [] { return interrupted.load(); };
    return run_cells(store, cells_of(experiments), workers, options);
  } catch (const UserError& error) {
    // A cell may take an hour; a full disk is told now.
    print_note(error.what());
    leave(2);
  }
}

// The table is of this run's experiments, the page of all that the folder holds.
int report_all(const ResultStore& store, const std::vector<FrozenExperiment>& experiments,
               const Flags& flags) {
  std::vector<ReportedExperiment> all, own;
  for (const std::string& name : store.experiments()) all.push_back(reported(store, name));
  bool failed = false;
  for (const FrozenExperiment& experiment : experiments) {
    own.push_back(*std::ranges::find(all, experiment.name, &ReportedExperiment::name));
    for (const ReportedCell& cell : own.back().cells) failed = failed || cell.state == CellState::failed;
  }
  print_text(flags.json ? experiment_json_lines(own)
                        : experiment_table(own, colour_wanted(), output_width()));
  const std::filesystem::path page = flags.out / "report.html";
  write_file(page, experiment_page(all));
  print_note(fmt::format("the page is {}", page.string()));
  return failed ? 1 : 0;
}

int lead(const Flags& flags, Sources& sources,
         const std::function<std::unique_ptr<Workers>()>& make_workers) {
  const std::vector<FrozenExperiment> experiments = freeze_all(flags, sources);
  if (flags.dry_run) {
    print_text(cell_listing(experiments, flags.out));
    return 0;
  }
  const OutputFolder folder(flags.out);
  ResultStore store(flags.out, ResultStore::Access::write);
  stop_on_signals();
  {
    const std::unique_ptr<Workers> workers = make_workers();
    const RunSummary summary = run_all(store, experiments, *workers, flags);
    say_summary(summary, flags);
    if (summary.stopped) leave(130);
  }
  return report_all(store, experiments, flags);
}

int run_under_mpi(const Flags& flags) {
  MpiSession session;
  Sources sources([&](const std::string& text) {
    if (session.rank() == 0) print_note(text);
  });
  // mpirun may have bound this rank to cores of its own, which is all that threads() then counts.
  const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int threads_each = std::clamp(cores / session.ranks_here(), 1, threads());
  if (session.rank() != 0) {
    session.serve(threads_each, sources);
    return 0;
  }
  bool told = false;
  const auto make = [&] {
    told = true;
    return session.workers(threads_each, sources);
  };
  try {
    return lead(flags, sources, make);
  } catch (...) {
    if (!told) make();  // and end them at once
    throw;
  }
}

int run(const Flags& flags) {
  if (flags.keys) {
    if (mpi_rank() == 0) print_text(key_listing());
    return 0;
  }
  if (flags.files.empty()) fail("FILE... is required: the experiments to run (see undertext run --help)");
  if (started_by_mpi()) return run_under_mpi(flags);
  Sources sources([](const std::string& text) { print_note(text); });
  return lead(flags, sources,
              [&] { return thread_workers(flags.jobs, std::max(1, threads() / flags.jobs), sources); });
}

}  // namespace

Verb run_verb(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("run", "Run experiments: every combination of the values in their files");
  const auto flags = std::make_shared<Flags>();
  app->add_option("files", flags->files, "the experiments (TOML)")->option_text("FILE...");
  app->add_option("--profile", flags->profile, "values of [profile.NAME] over the file's own")
      ->option_text("NAME");
  app->add_option("--set", flags->sets,
                  "one value over the file's own, as federation.epochs=10; may be repeated")
      ->option_text("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--out", flags->out,
                  "where the results are kept; finished cells are not run again (undertext-run)")
      ->option_text("DIR");
  app->add_flag("--dry-run", flags->dry_run, "list the cells and run none");
  app->add_option("--limit", flags->limit, "cells to run at most")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->option_text("N");
  app->add_flag("--retry", flags->retry, "run failed cells again");
  app->add_option("--jobs", flags->jobs,
                  "cells at a time in this process, each with its share of the threads (1)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app->add_flag("--keys", flags->keys, "list what a file may hold, with the values where it is silent");
  app->add_flag("--json", flags->json, "print one JSON object for each cell");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
