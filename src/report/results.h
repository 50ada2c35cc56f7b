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
  std::string name;  // "none", or what was done
  double sigma = 0;
  bool none() const { return name == "none"; }
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
  std::int64_t recovered = 0, truth = 0;
  std::optional<bool> certified;  // nothing: this attack cannot certify
  ReportedScores scores;
  std::optional<double> perplexity_before, perplexity_after;
  double seconds = 0;

  bool sentences() const { return attack != "words"; }  // whole texts: messages, sequences or records
  bool records() const { return attack == "records"; }
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

struct Results {
  std::string version, command, preset;
  std::uint64_t seed = 0;
  double seconds = 0;
  ReportedModel model;
  std::vector<ReportedThreatModel> threat_models;
  std::vector<ResultRow> rows;
  std::vector<Sample> samples;
  std::vector<CorrelationCurves> curves;  // only of records

  // Whether clients hold sequences of one length, of which single tokens count, and not messages.
  bool of_sequences() const;
  bool of_records() const;
  const ReportedThreatModel& threat_model(const ResultRow& row) const;
};

// UserError that names `source`, the field and what was expected when something is missing, of a wrong type,
// out of range, or refers to nothing.
Results parse_results(const nlohmann::json& document, const std::string& source = "results.json");

// The file, parsed as JSON and checked.
nlohmann::json read_results(const std::filesystem::path& file);

}  // namespace undertext
