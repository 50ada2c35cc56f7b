// The results of an audit, as the report reads them: `results.json`, checked field by field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace undertext {

struct ReportedModel {
  std::string kind, source;
  std::int64_t parameters = 0, vocabulary = 0;
  std::optional<double> perplexity;
};

struct ReportedThreatModel {
  std::string id, name, sees, does_not_see, does;
};

struct ReportedProtocol {
  std::string name;  // FedSGD, FedAvg
  std::int64_t epochs = 1;
  std::int64_t batch = 0;  // sentences per step; 0: all in one
  double learning_rate = 0;
  std::string reduction, trained;
  bool operator==(const ReportedProtocol&) const = default;
};

struct ReportedDefence {
  std::string kind = "none";             // "noise-per-step"; several together: "clipping+noise-on-result"
  std::string title, spec;               // in words; as it is typed
  std::optional<std::string> parameter;  // the one that says how strong it is
  std::optional<double> strength;        // its value
  bool none() const { return kind == "none"; }
  bool operator==(const ReportedDefence&) const = default;
};

// Fractions lie in [0, 1], the Levenshtein ratios in [0, 100]. Nothing: not defined for this row.
struct ReportedScores {
  std::optional<double> f1, precision, recall;                    // attack "words"
  std::optional<double> levenshtein_paper, levenshtein, matched;  // attack "sentences"
  std::optional<double> exact, exact_precision, word_f1;          // attack "sentences"
  std::optional<double> total_accuracy;                           // of sequences: tokens in their place
  std::optional<double> top_50, edits, owners;  // attack "records", see metrics/record_scores.h
  std::optional<double> words() const { return f1 ? f1 : word_f1; }  // F1 of the set of words
};

struct ResultRow {
  std::string id, attack, method, threat_model;
  bool oracle = false;  // uses something that only the truth tells
  std::int64_t messages = 0;
  ReportedProtocol protocol;
  ReportedDefence defence;
  std::optional<double> epsilon, delta;  // what the defence guarantees; nothing: nothing
  // What the attack knew of the defence and used, in words; nothing: it goes on as if there were none.
  std::optional<std::string> told;
  std::int64_t recovered = 0, truth = 0;
  std::optional<bool> certified;  // nothing: this attack cannot certify
  ReportedScores scores;
  // The leak of whoever guesses without looking at the update; nothing: none to speak of.
  std::optional<double> chance;
  std::optional<double> perplexity_before, perplexity_after;
  double seconds = 0;                      // of the attack
  std::optional<double> training_seconds;  // of the client's training

  bool sentences() const { return attack != "words"; }  // whole texts: messages, sequences or records
  bool records() const { return attack == "records"; }
  bool adaptive() const { return defence.none() || told.has_value(); }
  // The share of what the attack is after that it reads: tokens of sequences, messages word for word, words.
  double leak() const;
  // Messages recovered word for word, as a count.
  std::int64_t exact_count() const;
};

struct MessagePair {
  std::optional<std::string> truth, recovered;  // nothing: missed, or invented
  bool exact = false;
  std::optional<double> ratio;
};

struct Sample {
  std::string row;
  std::vector<MessagePair> pairs;
};

// How a record goes along with each client of a federation, round by round: correlations in [-1, 1].
struct CorrelationCurves {
  std::string title;
  std::int64_t owner = 0;                    // whose record it is
  std::vector<std::vector<double>> clients;  // [client][round]
};

// An attack that cannot be run against a defence, or a defence that this model or protocol cannot have.
struct ImpossibleCase {
  std::string attack, threat_model;
  ReportedDefence defence;
  std::string why;
};

// What a defence promises, as a privacy review wants it said.
struct PrivacyStatement {
  std::string spec, statement;
};

struct Results {
  std::string version, command, preset;
  std::uint64_t seed = 0;
  double seconds = 0;
  ReportedModel model;
  std::vector<ReportedThreatModel> threat_models;
  std::vector<ResultRow> rows;
  std::vector<Sample> samples;
  std::vector<CorrelationCurves> curves;  // only of records
  std::vector<ImpossibleCase> impossible;
  std::vector<PrivacyStatement> privacy;

  // Whether clients hold sequences of one length, of which single tokens count, and not messages.
  bool of_sequences() const;
  bool of_records() const;
  const ReportedThreatModel& threat_model(const ResultRow& row) const;
};

inline constexpr std::int64_t kResultsVersion = 2;  // of the file's format

// UserError that names `source`, the field and what was expected when something is missing, of a wrong type,
// out of range, or refers to nothing.
Results parse_results(const nlohmann::json& document, const std::string& source = "results.json");

// The file, parsed as JSON and checked.
nlohmann::json read_results(const std::filesystem::path& file);

}  // namespace undertext
