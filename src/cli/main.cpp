// The program: reads the flags, runs one verb, turns every failure into one line and an exit code.
//   0  done      2  something the user can mend      1  something else, such as a cell of an experiment that
//   failed      3  inspect: a state that is not fit to train on; privacy canary: a claim that is refuted
#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <new>
#include <string>

#include "audit/run/mpi_run.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/threads.h"
#include "cli/verb.h"

namespace undertext {
namespace {

// Whatever a message holds (a file name with a line break, a library's backtrace), it stays one line.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message.substr(0, message.find("\nException raised from"))) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    line += control ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// Under mpirun all ranks read the same flags and would complain of the same thing.
int complain(std::string_view message, int code) {
  if (mpi_rank() == 0) fmt::print(stderr, "undertext: {}\n", one_line(message));
  return code;
}

// "undertext attack words": the verb that was being read when its flags went wrong.
std::string verb_of(const CLI::App& program) {
  std::string name = "undertext";
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    name += " " + app->get_name();
  }
  return name;
}

int run(int argc, char** argv) {
  CLI::App program(
      "Reads the text that a client's update to a federated language model leaves behind,\n"
      "to show what leaks, to whom, and which defence stops it.",
      "undertext");
  program.set_version_flag("--version", fmt::format("undertext {}", kVersion), "show the version");
  program.set_help_flag("-h,--help", "show this help");
  program.get_formatter()->column_width(32);
  program.require_subcommand(1);
  program.fallthrough();
  int thread_count = 0;
  program.add_option("--threads", thread_count, "threads to use (all cores)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");

  std::vector<Verb> verbs = {audit_verb(program), client_verb(program)};
  CLI::App* attack = program.add_subcommand("attack", "What can be read from an update?");
  attack->require_subcommand(1);
  verbs.push_back(attack_words_verb(*attack));
  verbs.push_back(attack_sentences_verb(*attack));
  for (const char* method : {"dlg", "tag"}) verbs.push_back(attack_matching_verb(*attack, method));
  verbs.push_back(attack_decepticon_verb(*attack));
  verbs.push_back(attack_film_verb(*attack));
  verbs.push_back(attack_records_verb(*attack));
  CLI::App* server = program.add_subcommand("server", "Play a server that is not honest");
  server->require_subcommand(1);
  verbs.push_back(server_corrupt_verb(*server));
  verbs.push_back(inspect_verb(program));
  verbs.push_back(defences_verb(program));
  CLI::App* privacy = privacy_app(program);
  verbs.push_back(privacy_canary_verb(*privacy));  // before the verb that it belongs to, which is parsed too
  verbs.push_back(privacy_verb(*privacy));
  verbs.push_back(new_verb(program));
  verbs.push_back(train_verb(program));
  verbs.push_back(run_verb(program));
  verbs.push_back(federate_verb(program));
  verbs.push_back(report_verb(program));
  verbs.push_back(compare_verb(program));
  verbs.push_back(convert_verb(program));
  verbs.push_back(tokenize_verb(program));
  for (const Verb& verb : verbs) verb.app->fallthrough();
  attack->fallthrough();
  server->fallthrough();

  // After the verbs, which would inherit it.
  program.footer(
      "Start here:\n"
      "  undertext audit\n"
      "An experiment, cell by cell, and its page:\n"
      "  undertext run experiments/gboard/figure2a.toml --profile quick\n"
      "  undertext report undertext-run\n"
      "One update, step by step:\n"
      "  undertext client --model DIR --texts FILE --out update.safetensors\n"
      "  undertext attack sentences --model DIR --update update.safetensors\n"
      "\nAsk a verb for its flags: undertext client --help");

  if (argc == 1) {
    fmt::print(stderr, "{}", program.help());
    return 2;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    // What is unknown explains what is missing: "--text" is why "--texts is required".
    const std::vector<std::string> unknown = program.remaining(true);
    const std::string what = unknown.empty() ? error.what() : "unknown argument " + quote(unknown.front());
    return complain(fmt::format("{} (see {} --help)", what, verb_of(program)), 2);
  }
  set_threads(thread_count);
  for (const Verb& verb : verbs) {
    if (verb.app->parsed()) return verb.run();
  }
  return 0;
}

}  // namespace
}  // namespace undertext

int main(int argc, char** argv) {
  using undertext::complain;
  // A file that may not grow is an error to tell, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return undertext::run(argc, argv);
  } catch (const undertext::UserError& error) {
    return complain(error.what(), 2);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for this model and these texts", 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
