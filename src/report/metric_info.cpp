#include "report/metric_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/labels.h"

namespace undertext {
namespace {

std::string seconds_text(double seconds) {
  if (seconds > 0 && seconds < 0.01) return "<0.01";
  return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : seconds < 1000 ? 1 : 0);
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string count_text(double count) {
  return fmt::format("{:.{}f}", count, count == std::floor(count) || count >= 1000 ? 0 : 1);
}

std::string infinite_text(double value) {
  return std::isnan(value) ? "not a number" : value > 0 ? "∞" : "−∞";
}

// The finest step that the kind's texts show.
double step_of(MetricKind kind, double value) {
  switch (kind) {
    case MetricKind::fraction:
      return 0.001;
    case MetricKind::ratio:
    case MetricKind::count:
      return 0.1;
    case MetricKind::perplexity:
      return value >= 1000 ? 1 : 0.1;
    case MetricKind::seconds:
      return 0.01;
    default:
      return 0;
  }
}

// Without the care for "all" and "none", which a difference has no use for.
std::string size_text(MetricKind kind, double size) {
  const double step = step_of(kind, size);
  if (size > 0 && size < step / 2) return fmt::format("<{}", step);
  switch (kind) {
    case MetricKind::fraction:
      return fmt::format("{:.3f}", size);
    case MetricKind::ratio:
      return fmt::format("{:.1f}", size);
    default:
      return metric_text(kind, size);
  }
}

}  // namespace

const std::vector<MetricInfo>& metric_infos() {
  using enum MetricKind;
  using enum LargerMeans;
  static const std::vector<MetricInfo> infos = {
      {"total_accuracy", "total accuracy", fraction, more_leak},
      {"token_accuracy", "token accuracy", fraction, more_leak},
      {"most_vulnerable", "most vulnerable", fraction, more_leak},
      {"top_1", "top 1", fraction, more_leak},
      {"top_5", "top 5", fraction, more_leak},
      {"top_10", "top 10", fraction, more_leak},
      {"top_20", "top 20", fraction, more_leak},
      {"top_50", "top 50", fraction, more_leak},
      {"owners", "owners right", fraction, more_leak},
      {"f1", "F1", fraction, more_leak},
      {"precision", "precision", fraction, more_leak},
      {"recall", "recall", fraction, more_leak},
      {"with_counts", "with counts", fraction, more_leak},
      {"bleu", "BLEU", fraction, more_leak},
      {"first_rouge_1", "ROUGE-1, ranked first", fraction, more_leak},
      {"first_rouge_2", "ROUGE-2, ranked first", fraction, more_leak},
      {"first_rouge_l", "ROUGE-L, ranked first", fraction, more_leak},
      {"first_nerr", "NERR, ranked first", fraction, more_leak},
      {"first_exact", "exact, ranked first", fraction, more_leak},
      {"best_rouge_1", "ROUGE-1, best", fraction, more_leak},
      {"best_rouge_2", "ROUGE-2, best", fraction, more_leak},
      {"best_rouge_l", "ROUGE-L, best", fraction, more_leak},
      {"best_nerr", "NERR, best", fraction, more_leak},
      {"best_exact", "exact, best", fraction, more_leak},
      {"rouge_1", "ROUGE-1", fraction, more_leak},
      {"rouge_2", "ROUGE-2", fraction, more_leak},
      {"rouge_l", "ROUGE-L", fraction, more_leak},
      {"rouge_1_stemmed", "ROUGE-1, stems", fraction, more_leak},
      {"rouge_2_stemmed", "ROUGE-2, stems", fraction, more_leak},
      {"rouge_l_stemmed", "ROUGE-L, stems", fraction, more_leak},
      {"exact", "exact", fraction, more_leak},
      {"exact_precision", "exact precision", fraction, more_leak},
      {"matched", "matched", ratio, more_leak},
      {"levenshtein", "Levenshtein, plain", ratio, more_leak},
      {"levenshtein_paper", "Levenshtein, paper", ratio, more_leak},
      {"word_f1", "word F1", fraction, more_leak},
      {"recall_25", "recall at ROUGE-L > .25", fraction, more_leak},
      {"precision_25", "precision at ROUGE-L > .25", fraction, more_leak},
      {"entity_recall", "entities found", fraction, more_leak},
      {"bag_precision", "bag precision", fraction, more_leak},
      {"bag_recall", "bag recall", fraction, more_leak},
      {"bag_f1", "bag F1", fraction, more_leak},
      {"bag_confidence", "bag confidence", fraction, neither},
      {"confidence", "confidence", fraction, neither},
      {"auc", "AUC of confidence", fraction, neither},
      {"certified", "certified", fraction, more_leak},
      {"certified_share", "certified tokens", fraction, more_leak},
      {"certified_accuracy", "right of certified", fraction, more_leak},
      {"calibration_error", "calibration error", fraction, neither},
      {"correlation", "correlation with the owner", number, more_leak},
      {"distance_1", "edits, first", number, neither},
      {"distance_5", "edits, first 5", number, neither},
      {"distance_10", "edits, first 10", number, neither},
      {"distance_20", "edits, first 20", number, neither},
      {"distance_50", "edits, first 50", number, neither},
      {"tokens_right", "tokens in place", count, more_leak},
      {"tokens", "tokens in truth", count, neither},
      {"recovered", "recovered", count, neither},
      {"truth", "in truth", count, neither},
      {"epsilon", "epsilon", number, more_leak},
      {"bits_per_character", "bits a character", number, worse},
      {"perplexity_before", "perplexity before", perplexity, worse},
      {"perplexity_after", "perplexity after", perplexity, worse},
      {"seconds", "seconds", seconds, worse},
      {"peak_memory", "peak memory", bytes, worse},
  };
  return infos;
}

MetricInfo metric_info(const std::string& name) {
  const auto found = std::ranges::find(metric_infos(), name, &MetricInfo::name);
  return found == metric_infos().end() ? MetricInfo{name, name} : *found;
}

std::vector<std::string> in_metric_order(std::vector<std::string> names) {
  const auto place = [](const std::string& name) {
    return std::ranges::find(metric_infos(), name, &MetricInfo::name) - metric_infos().begin();
  };
  std::ranges::sort(names, {}, [&](const std::string& name) { return std::pair(place(name), name); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string metric_text(MetricKind kind, double value) {
  if (!std::isfinite(value)) return infinite_text(value);
  switch (kind) {
    case MetricKind::fraction:
      return fraction_text(value);
    case MetricKind::ratio:
      return ratio_text(value);
    case MetricKind::perplexity:
      return perplexity_text(value);
    case MetricKind::count:
      return count_text(value);
    case MetricKind::seconds:
      return seconds_text(value);
    case MetricKind::bytes:
      return bytes_text(value);
    case MetricKind::number:
      break;
  }
  return fmt::format("{:.4g}", value);
}

std::string spread_text(MetricKind kind, double spread) {
  return std::isfinite(spread) ? size_text(kind, spread) : infinite_text(spread);
}

std::string difference_text(MetricKind kind, double difference) {
  if (!std::isfinite(difference)) return infinite_text(difference);
  if (difference == 0) return size_text(kind, 0);
  return (difference > 0 ? "+" : "−") + size_text(kind, std::abs(difference));
}

std::string kind_name(MetricKind kind) {
  static constexpr const char* kNames[] = {"fraction", "ratio", "perplexity", "count",
                                           "seconds",  "bytes", "number"};
  return kNames[static_cast<int>(kind)];
}

std::string meaning_name(LargerMeans larger) {
  static constexpr const char* kNames[] = {"more leak", "worse", "neither"};
  return kNames[static_cast<int>(larger)];
}

}  // namespace undertext
