// What the program can be asked to do. Each verb has its file, which declares the flags and does the work.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace undertext {

struct Verb {
  CLI::App* app;
  std::function<int()> run;  // after all flags are read; the exit code
};

Verb client_verb(CLI::App& program);
Verb tokenize_verb(CLI::App& program);
Verb attack_words_verb(CLI::App& attack);
Verb attack_sentences_verb(CLI::App& attack);
Verb attack_matching_verb(CLI::App& attack, const std::string& method);  // dlg, tag
Verb attack_decepticon_verb(CLI::App& attack);
Verb attack_film_verb(CLI::App& attack);
Verb attack_records_verb(CLI::App& attack);
Verb server_corrupt_verb(CLI::App& server);
Verb inspect_verb(CLI::App& program);
Verb defences_verb(CLI::App& program);
CLI::App* privacy_app(CLI::App& program);
Verb privacy_verb(CLI::App& privacy);
Verb privacy_canary_verb(CLI::App& privacy);
Verb new_verb(CLI::App& program);
Verb train_verb(CLI::App& program);
Verb audit_verb(CLI::App& program);
Verb run_verb(CLI::App& program);
Verb federate_verb(CLI::App& program);
Verb report_verb(CLI::App& program);
Verb compare_verb(CLI::App& program);
Verb convert_verb(CLI::App& program);

}  // namespace undertext
