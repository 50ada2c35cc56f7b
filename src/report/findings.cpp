#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "base/error.h"
#include "report/advice.h"
#include "report/labels.h"

namespace undertext {
namespace {

std::string count_of(std::int64_t part, std::int64_t whole) {
  return part == 0 ? fmt::format("none of {}", whole) : fmt::format("{} of {}", part, whole);
}

std::string verdict_of(const Results& results, const ResultRow& row) {
  const ReportedThreatModel& adversary = results.threat_model(row);
  const std::string who = fmt::format("{} that sees {}", with_article(adversary.name, true), adversary.sees);
  if (row.scores.total_accuracy)
    return fmt::format("{} reads {} of the tokens in their place, and {} sequences whole.", who,
                       percent_text(*row.scores.total_accuracy), count_of(row.exact_count(), row.truth));
  if (row.records())
    return fmt::format("{} reads {} records of other clients, each with its owner.", who,
                       count_of(row.exact_count(), row.truth));
  if (row.sentences())
    return fmt::format("{} reads {} messages word for word.", who, count_of(row.exact_count(), row.truth));
  return fmt::format("{} learns {} of the words that were typed, and {} of the words it lists are right.",
                     who, percent_text(row.scores.recall.value_or(0)),
                     percent_text(row.scores.precision.value_or(0)));
}

// The published method on the case of `row`, if it was run without the truth.
const ResultRow* published_twin(const Results& results, const ResultRow& row) {
  for (const ResultRow& other : results.rows) {
    if (other.method == (row.records() ? "eavesdrop" : "paper") && !other.oracle &&
        other.attack == row.attack && other.messages == row.messages && other.protocol == row.protocol &&
        other.defence == row.defence && other.threat_model == row.threat_model)
      return &other;
  }
  return nullptr;
}

struct Mean {
  double sum = 0;
  int count = 0;
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum += *value;
    ++count;
  }
  double value() const { return sum / count; }
};

// Word F1 of the undefended clients, the strongest method beside the published one.
void add_word_figure(const Results& results, std::vector<KeyFigure>& figures) {
  Mean best, paper;
  for (const ResultRow& row : results.rows) {
    if (row.attack != "words" || row.oracle || !row.defence.none()) continue;
    (row.method == "best" ? best : paper).add(row.scores.f1);
  }
  if (best.count > 0) {
    std::string note = "F1, mean over clients without a defence";
    const char* const published = results.of_sequences() ? "the published method" : "the paper’s sign test";
    if (paper.count > 0) note += fmt::format("; {}: {}", published, fraction_text(paper.value()));
    figures.push_back({fraction_text(best.value()), "of the set of typed words", note});
  } else if (paper.count > 0) {
    figures.push_back({fraction_text(paper.value()), "of the set of typed words",
                       "F1 of the paper’s sign test, mean over clients without a defence"});
  }
}

void add_certificate_figure(const Results& results, std::vector<KeyFigure>& figures) {
  int certified = 0, able = 0;
  for (const ResultRow& row : results.rows) {
    if (!row.sentences() || row.method != "best" || !row.certified || !row.defence.none()) continue;
    ++able;
    certified += *row.certified;
  }
  if (able == 0) return;
  figures.push_back({fmt::format("{} of {}", certified, able), "updates read with a certificate",
                     "without a defence; the attacker knows that nothing is missing, without the truth"});
}

// Tokens in their place: the strongest case, the published attack on the same client, and what a server reads
// that changes nothing.
void add_sequence_figures(const Results& results, const ResultRow& row, std::vector<KeyFigure>& figures) {
  const Labels labels(results);
  figures.push_back({percent_text(row.leak()), "of the tokens read in their place",
                     fmt::format("{}; {}", results.threat_model(row).name, labels.setting(row))});
  if (const ResultRow* paper = published_twin(results, row); paper != nullptr && row.method == "best")
    figures.push_back({percent_text(paper->leak()), "by the published attack", "the same client"});
  const ResultRow* other = nullptr;  // the most that another adversary puts in place
  for (const ResultRow& candidate : results.rows)
    if (candidate.scores.total_accuracy && candidate.threat_model != row.threat_model && !candidate.oracle &&
        candidate.defence.none() && (other == nullptr || candidate.leak() > other->leak()))
      other = &candidate;
  if (other != nullptr)
    figures.push_back({percent_text(other->leak()), fmt::format("by {}", other->method),
                       fmt::format("{}; {}", results.threat_model(*other).name, labels.setting(*other))});
}

}  // namespace

std::string with_article(std::string name, bool begins) {
  if (name.empty()) return begins ? "An adversary" : "an adversary";
  const bool one_capital = name.size() < 2 || !std::isupper(static_cast<unsigned char>(name[1]));
  if (one_capital) name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  const bool vowel = std::string_view("aeio").find(name[0]) != std::string_view::npos;
  return fmt::format("{}{} {}", begins ? "A" : "a", vowel ? "n" : "", name);
}

const ResultRow& strongest_row(const Results& results) {
  UNDERTEXT_CHECK(!results.rows.empty());  // parse_results has seen to it
  const auto key = [](const ResultRow& row) {
    return std::tuple(!row.oracle, row.sentences(), row.defence.none(), row.leak(), row.messages);
  };
  return *std::ranges::max_element(results.rows, {}, key);
}

Findings findings_of(const Results& results) {
  const Labels labels(results);
  const ResultRow& row = strongest_row(results);
  Findings findings;
  findings.verdict = verdict_of(results, row);

  findings.lead.push_back(fmt::format("The strongest case: {}.", labels.setting(row)));
  if (row.certified.value_or(false))
    findings.lead.emplace_back(
        row.scores.total_accuracy
            ? "The attacker is certain of it without knowing the truth: every token, in its place, explains "
              "what was observed."
            : "The attacker is certain of it without knowing the truth: the recovered messages explain the "
              "update down to rounding.");
  findings.lead.push_back(headline_advice(results));

  if (row.scores.total_accuracy) {
    add_sequence_figures(results, row, findings.figures);
  } else if (row.sentences()) {
    findings.figures.push_back({fmt::format("{} of {}", row.exact_count(), row.truth),
                                labels.leaked() + " " + labels.read(), labels.setting(row)});
    if (const ResultRow* paper = published_twin(results, row); paper != nullptr && row.method == "best")
      findings.figures.push_back({fmt::format("{} of {}", paper->exact_count(), paper->truth),
                                  row.records() ? "by eavesdropping as published" : "by the published attack",
                                  row.records() ? "the same federation" : "the same client and update"});
  }
  add_word_figure(results, findings.figures);
  add_certificate_figure(results, findings.figures);
  if (const auto cheapest = cheapest_protection(results, row.threat_model))
    findings.figures.push_back(
        {rise_text(*cheapest), "perplexity, for the cheapest defence that protects",
         fmt::format("{}; {}", labels.defence(cheapest->defence), cost_text(*cheapest))});
  if (results.model.perplexity)
    findings.figures.push_back({perplexity_text(*results.model.perplexity), "perplexity of the shared model",
                                fmt::format("{}, {} words", results.model.kind, results.model.vocabulary)});
  return findings;
}

}  // namespace undertext
