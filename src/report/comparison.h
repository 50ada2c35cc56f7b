// Two sets of experiments against each other: what leaks more, what leaks less, and what is only chance.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/aggregate.h"
#include "report/experiment.h"

namespace undertext {

enum class Verdict {
  leaks_more,
  leaks_less,
  better,
  worse,
  larger,  // of a number that is neither leak nor cost
  smaller,
  no_difference,   // beyond the spread, at 95 %
  unknown_spread,  // they differ, but a side has one repetition alone
  same,            // exactly, but for rounding
  not_a_number,
};

std::string verdict_text(Verdict verdict);  // "leaks more", "one repetition: no spread known"

// The second side against the first.
struct ComparedMetric {
  std::string metric;
  Summary first, second;
  double difference = 0;        // second - first; of the pairs where there are pairs
  std::optional<double> error;  // its standard error; nothing: no spread is known
  std::int64_t pairs = 0;       // repetitions with the same texts and seed; 0: compared as independent
  Verdict verdict = Verdict::same;
};

using NamedValues = std::vector<std::pair<std::string, nlohmann::json>>;

struct ComparedGroup {
  NamedValues values;
  CellCounts first, second;
  std::vector<ComparedMetric> metrics;                     // defined on both sides
  std::vector<std::string> only_in_first, only_in_second;  // metrics
};

struct ComparedExperiment {
  std::string name, title;
  std::vector<ComparedGroup> groups;
  std::vector<NamedValues> only_in_first, only_in_second;  // groups
};

struct ComparedFailure {
  bool in_first = true;
  std::string experiment;
  NamedValues values;
  std::string texts;
  std::uint64_t seed = 0;
  std::string error;
};

struct Comparison {
  std::string first_name = "first", second_name = "second";  // how the sides are called where they are shown
  std::vector<ComparedExperiment> experiments;
  std::vector<std::string> only_in_first, only_in_second;  // experiments
  std::vector<ComparedFailure> failures;
};

// Experiments are matched by name, groups by the values of their axes: an axis that the other side has not
// matches where it is a setting there that all cells share. Repetitions are paired by texts and seed where at
// least two can be (or the only one of each side); the spread is then that of the differences. Otherwise it
// is sqrt(s1²/n1 + s2²/n2), with Welch's degrees of freedom.
Comparison compare_experiments(const std::vector<ReportedExperiment>& first,
                               const std::vector<ReportedExperiment>& second);

// Largest changes first, then what is on one side only, failures and a summary. colour and width as in
// terminal_table().
std::string comparison_table(const Comparison& comparison, bool colour, int width);

// Everything, also what does not differ.
nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace undertext
