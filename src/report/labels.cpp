#include "report/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace undertext {
namespace {

// Rounds to `step`, but keeps a value that lies strictly inside (0, top) strictly inside.
double round_inside(double value, double step, double top) {
  const double rounded = std::round(value / step) * step;
  if (rounded <= 0 && value > 0) return step;
  if (rounded >= top && value < top) return top - step;
  return rounded;
}

}  // namespace

Labels::Labels(const Results& results)
    : of_sequences_(results.of_sequences()), of_records_(results.of_records()) {
  for (const ResultRow& row : results.rows) {
    const ReportedProtocol& first = results.rows.front().protocol;
    learning_rate_varies_ |= row.protocol.learning_rate != first.learning_rate;
    reduction_varies_ |= row.protocol.reduction != first.reduction;
    trained_varies_ |= row.protocol.trained != first.trained;
    const std::pair known(row.defence.spec, plain_label(row.defence));
    if (std::ranges::find(defences_, known) == defences_.end()) defences_.push_back(known);
  }
}

std::string Labels::client(const ResultRow& row) const {
  return fmt::format("{} {}{}", row.messages, one(), row.messages == 1 ? "" : "s");
}

std::string Labels::protocol(const ReportedProtocol& protocol) const {
  std::string label = protocol.name;
  if (protocol.name != "FedSGD") {
    label += protocol.epochs == 1 ? ", 1 epoch" : fmt::format(", {} epochs", protocol.epochs);
    if (protocol.batch != 0) label += fmt::format(", batch {}", protocol.batch);
  }
  return label + variations(protocol);
}

std::string Labels::short_protocol(const ReportedProtocol& protocol) const {
  std::string label = protocol.name;
  if (protocol.name != "FedSGD") {
    label += fmt::format(" E={}", protocol.epochs);
    if (protocol.batch != 0) label += fmt::format(" B={}", protocol.batch);
  }
  return label + variations(protocol);
}

std::string Labels::variations(const ReportedProtocol& protocol) const {
  std::string label;
  if (learning_rate_varies_) label += fmt::format(", rate {}", protocol.learning_rate);
  if (reduction_varies_) label += ", " + protocol.reduction;
  if (trained_varies_) label += ", trains " + protocol.trained;
  return label;
}

std::string Labels::plain_label(const ReportedDefence& defence) {
  if (defence.none()) return "none";
  if (!defence.parameter || !defence.strength) return defence.title;
  const std::string name = *defence.parameter == "sigma" ? "σ" : *defence.parameter;
  return fmt::format("{}, {}={}", defence.title, name, *defence.strength);
}

std::string Labels::defence(const ReportedDefence& defence) const {
  const std::string label = plain_label(defence);
  // Two that differ in something else than their strength are told apart by all of it.
  const bool shared = std::ranges::any_of(
      defences_, [&](const auto& known) { return known.second == label && known.first != defence.spec; });
  return shared && !defence.none() ? defence.spec : label;
}

std::string Labels::method(const ResultRow& row) const {
  return row.oracle ? row.method + " (oracle)" : row.method;
}

std::string Labels::setting(const ResultRow& row) const {
  return fmt::format("{}, {}, {}", client(row), protocol(row.protocol),
                     row.defence.none() ? "no defence" : defence(row.defence));
}

std::string fraction_text(double fraction) {
  return fmt::format("{:.3f}", round_inside(fraction, 0.001, 1));
}

std::string ratio_text(double ratio) {
  return fmt::format("{:.1f}", round_inside(ratio, 0.1, 100));
}

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  if (percent > 0 && percent < 0.5) return "<1%";
  return fmt::format("{:.0f}%", round_inside(percent, 1, 100));
}

std::string perplexity_text(double perplexity) {
  if (perplexity >= 1e6) return fmt::format("{:.1e}", perplexity);
  return perplexity >= 1000 ? fmt::format("{:.0f}", perplexity) : fmt::format("{:.1f}", perplexity);
}

std::string or_dash(const std::optional<double>& value, std::string (*text)(double)) {
  return value ? text(*value) : "–";
}

}  // namespace undertext
