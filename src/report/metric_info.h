// What the report knows of each metric: its place, its name in plain words, how its numbers are written, and
// what a larger one means.
#pragma once

#include <string>
#include <vector>

namespace undertext {

enum class MetricKind { fraction, ratio, perplexity, count, seconds, bytes, number };  // ratio: from 0 to 100

enum class LargerMeans { more_leak, worse, neither };

struct MetricInfo {
  std::string name;   // "f1", as cells name it
  std::string label;  // "F1"
  MetricKind kind = MetricKind::number;
  LargerMeans larger = LargerMeans::neither;
};

// All known metrics in the order in which they are shown. The last two, "seconds" and "peak_memory", are what
// it cost to run a cell.
const std::vector<MetricInfo>& metric_infos();

// A metric that is not known is a plain number under its own name.
MetricInfo metric_info(const std::string& name);

// Known metrics in their order, then the others by name; each once.
std::vector<std::string> in_metric_order(std::vector<std::string> names);

// "0.996", "98.4", "31.2", "17", "12.5", "1.9 GB". What is not all never rounds to all, nor what is some to
// none.
std::string metric_text(MetricKind kind, double value);

// A spread with as many decimals as metric_text gives; "<0.001" for one that would round to none.
std::string spread_text(MetricKind kind, double spread);

// A difference: as metric_text, with its sign.
std::string difference_text(MetricKind kind, double difference);

std::string kind_name(MetricKind kind);        // "fraction"
std::string meaning_name(LargerMeans larger);  // "more leak", "worse", "neither"

}  // namespace undertext
