// undertext federate: a whole federation, round by round, into a folder that holds what its clients see.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>

#include "audit/experiment/experiment_file.h"
#include "audit/federation/federation_setup.h"
#include "audit/run/mpi_run.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "federated/federation_run.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path file, out;
  std::string profile, plant;
  std::vector<std::string> sets;
  std::int64_t times = 0;
  bool json = false;
};

double bits(double nats) {
  return nats / std::numbers::ln2;
}

PreparedFederation prepared(const Flags& flags, Sources& sources) {
  ExperimentRequest request{flags.file, flags.profile, flags.sets};
  // Quoted, so that no pattern is taken for a number or a list.
  if (!flags.plant.empty()) request.sets.push_back("records.pattern=" + nlohmann::json(flags.plant).dump());
  if (flags.times > 0) request.sets.push_back(fmt::format("records.times={}", flags.times));
  return prepare_federation(one_federation(read_experiment(request)), flags.file, sources);
}

// Bits of a predicted token, of the validation text after the last round.
std::string round_note(const FederationServer& server) {
  const FederationProgress& progress = server.progress();
  const double loss = progress.rounds.empty() ? progress.first_loss : progress.rounds.back().loss;
  return fmt::format("validation {:.3f} bits, rate {:.3g}", bits(loss), server.next_rate());
}

nlohmann::json summary_of(const Flags& flags, const PreparedFederation& federation,
                          const FederationSummary& summary, double test) {
  const FederationProgress& progress = summary.progress;
  nlohmann::json rounds = nlohmann::json::array();
  for (const RoundOutcome& round : progress.rounds)
    rounds.push_back({{"selected", round.selected},
                      {"answered", round.answered},
                      {"learning_rate", round.learning_rate},
                      {"validation_bits", bits(round.loss)}});
  nlohmann::json result = {{"verb", "federate"},
                           {"out", flags.out.string()},
                           {"kind", federation.parties.model->kind()},
                           {"clients", federation.parties.clients.size()},
                           {"rounds", progress.rounds.size()},
                           {"resumed_at", summary.resumed_at},
                           {"stopped_early", summary.stopped_early},
                           {"validation_bits_before", bits(progress.first_loss)},
                           {"test_bits", test},
                           {"per_round", rounds}};
  if (!federation.records.texts.empty()) result["truth"] = truth_file(flags.out).string();
  if (!federation.watermarks.texts.empty()) result["watermarks"] = watermark_file(flags.out).string();
  return result;
}

void print_summary(const Flags& flags, const PreparedFederation& federation, const FederationSummary& summary,
                   double test) {
  const FederationProgress& progress = summary.progress;
  std::string text =
      fmt::format("{} of {}{}{}\n", counted(std::ssize(progress.rounds), "round", "rounds"),
                  counted(std::ssize(federation.parties.clients), "client", "clients"),
                  summary.stopped_early ? ", stopped early" : "",
                  summary.resumed_at > 0 ? fmt::format(", gone on from round {}", summary.resumed_at) : "");
  text += fmt::format("bits a token: validation {:.3f} before, {:.3f} after; test {:.3f}\n",
                      bits(progress.first_loss), bits(progress.rounds.back().loss), test);
  text += fmt::format("what clients see: {}\n", flags.out.string());
  if (!federation.records.texts.empty())
    text += fmt::format("the planted records: {}\n", truth_file(flags.out).string());
  if (!federation.watermarks.texts.empty())
    text += fmt::format("the adversary's watermarks: {}\n", watermark_file(flags.out).string());
  print_text(text);
}

int lead(const Flags& flags, const PreparedFederation& federation, ClientTrainers& trainers) {
  FederationSummary summary;
  {
    Progress progress("federation", federation.options.rounds, "rounds", Progress::Elsewhere::log);
    std::int64_t shown = -1;
    const AfterRound show = [&](const FederationServer& server) {
      // Not before it is known that the place is this federation's.
      if (shown < 0) write_planted_beside(flags.out, federation);
      const std::int64_t done = std::ssize(server.progress().rounds);
      progress.advance(done - std::max<std::int64_t>(shown, 0), round_note(server));
      shown = done;
    };
    summary = run_federation(federation.parties, federation.options, *federation.tokenizer, federation.recipe,
                             trainers, place_at(flags.out), show);
  }
  const double test = bits_per_character(*summary.progress.model, federation.test);
  if (flags.json)
    print_json(summary_of(flags, federation, summary, test));
  else
    print_summary(flags, federation, summary, test);
  return 0;
}

int run_under_mpi(const Flags& flags) {
  MpiSession session;
  // mpirun may have bound this rank to cores of its own, which is all that threads() then counts.
  const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  set_threads(std::clamp(cores / session.ranks_here(), 1, threads()));
  Sources sources([&](const std::string& text) {
    if (session.rank() == 0) print_note(text);
  });
  // All ranks read the same files and fail in the same way.
  const PreparedFederation federation = prepared(flags, sources);
  check_federation(federation.parties, federation.options);
  if (session.rank() != 0) {
    session.serve_clients(federation.parties, federation.options);
    return 0;
  }
  const std::unique_ptr<ClientTrainers> trainers = session.trainers(federation.parties, federation.options);
  return lead(flags, federation, *trainers);
}

int run(const Flags& flags) {
  if (started_by_mpi()) return run_under_mpi(flags);
  Sources sources([](const std::string& text) { print_note(text); });
  const PreparedFederation federation = prepared(flags, sources);
  check_federation(federation.parties, federation.options);  // before progress is shown
  const std::unique_ptr<ClientTrainers> trainers = thread_trainers(federation.parties, federation.options);
  return lead(flags, federation, *trainers);
}

}  // namespace

Verb federate_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("federate", "Run a whole federation and keep what its clients see");
  const auto flags = std::make_shared<Flags>();
  app->add_option("file", flags->file,
                  "an experiment (TOML) with federation.rounds and one value for each key")
      ->required()
      ->option_text("EXPERIMENT.toml");
  app->add_option("--out", flags->out,
                  "folder for every round's model; the same command goes on where it was interrupted")
      ->required()
      ->option_text("DIR");
  app->add_option("--plant", flags->plant,
                  "a record of this pattern for each client, as \"my number is {ddd}-{dd}\"; the truth goes "
                  "to DIR.truth.json")
      ->option_text("PATTERN");
  app->add_option("--times", flags->times, "how often it stands among the client's lines")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->option_text("K");
  app->add_option("--profile", flags->profile, "values of [profile.NAME] over the file's own")
      ->option_text("NAME");
  app->add_option("--set", flags->sets,
                  "one value over the file's own, as federation.rounds=10; may be repeated")
      ->option_text("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
