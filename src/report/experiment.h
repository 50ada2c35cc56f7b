// The results of an experiment, as the report shows them: cells with the values that vary between them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/results.h"

namespace undertext {

// One plot of an experiment. Names of values are those of the file ("federation.epochs"), names of metrics
// those of the cells ("f1").
struct ReportedPlot {
  std::string kind;   // "line", "scatter", "frontier", "magnitudes", "words"
  std::string title;  // may be empty
  std::string x, y;   // line: x a value, y a metric; scatter, frontier: both metrics; the others need neither
  std::string series;  // the value that tells lines or colours apart; empty: one series
  std::string facet;   // the value that gets a chart each; empty: one chart
  bool log_x = false;
  std::vector<std::pair<std::string, nlohmann::json>> where;  // only cells with these values
};

void to_json(nlohmann::json& json, const ReportedPlot& plot);
void from_json(const nlohmann::json& json, ReportedPlot& plot);

// A word with the change of its output bias.
struct ReportedWord {
  std::string word;
  std::int64_t id = 0;
  double score = 0;
  bool typed = false;
};

enum class CellState { pending, done, failed };

struct ReportedCell {
  std::string key;
  CellState state = CellState::pending;
  std::string error;                   // failed: why, one line
  std::vector<nlohmann::json> values;  // number, text or truth value for each of the experiment's axes
  std::uint64_t seed = 0;
  std::string texts;                                    // whose texts: a file's name and the client's number
  std::vector<std::pair<std::string, double>> metrics;  // defined ones, in the order of metric_infos()
  std::vector<MessagePair> pairs;                       // a sample of true and recovered messages
  std::int64_t all_pairs = 0;                           // how many there were
  std::vector<ReportedWord> words;                      // largest change first; empty unless asked for
  double seconds = 0;
  std::int64_t peak_memory = 0;  // bytes
  std::string version, host;
};

struct ReportedExperiment {
  std::string name, title;
  std::string source;             // where it comes from: "Suliman and Leith 2022, Figure 2a"
  std::string says;               // what is said there
  std::string command;            // how to run it again
  std::string profile;            // empty: none
  std::vector<std::string> axes;  // values that vary, without those of which the cells are repetitions
  std::vector<std::pair<std::string, nlohmann::json>> settings;  // values that all cells share
  std::vector<ReportedPlot> plots;
  std::vector<ReportedCell> cells;
};

}  // namespace undertext
