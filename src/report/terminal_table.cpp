#include "report/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/defence_table.h"
#include "report/findings.h"
#include "report/labels.h"
#include "report/results.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace undertext {
namespace {

// How alarming a leak is; the number itself says the same without colour.
Tone tone_of(const std::optional<double>& leak) {
  if (!leak) return Tone::faint;
  return *leak >= 0.5 ? Tone::leak : *leak > 0.05 ? Tone::some_leak : Tone::safe;
}

bool one_threat_model(const Results& results) {
  return std::ranges::all_of(results.rows, [&](const ResultRow& row) {
    return row.threat_model == results.rows.front().threat_model;
  });
}

// Rows under a defence stand in tables of their own, unless there is nothing else.
bool shown(const ResultRow& row, const Results& results) {
  return row.defence.none() ||
         std::ranges::none_of(results.rows, [](const ResultRow& other) { return other.defence.none(); });
}

// compact: shorter words, and no column for a threat model that all rows share (a note tells it).
TextTable layout_of(const Results& results, const Labels& labels, bool compact) {
  const bool threat_column = !compact || !one_threat_model(results);
  const bool sequences = results.of_sequences(), records = results.of_records();
  TextTable layout;
  layout.columns = {{"attack"}};
  if (threat_column) layout.columns.push_back({"threat model"});
  for (const TextColumn& column :
       {TextColumn{"client", true}, TextColumn{"protocol"}, TextColumn{"defence"},
        TextColumn{"recovered", true}, TextColumn{"exact", true},
        records ? TextColumn{"top 50", true} : TextColumn{compact ? "F1" : "word F1", true},
        records     ? TextColumn{"edits", true}
        : sequences ? TextColumn{"in place", true}
                    : TextColumn{compact ? "Lev." : "Levenshtein", true},
        TextColumn{"perplexity", true}})
    layout.columns.push_back(column);
  const std::string_view arrow = compact ? "→" : " → ";
  std::int64_t client = 0;
  for (const ResultRow& row : results.rows) {
    if (!shown(row, results)) continue;
    std::string utility = "–";
    if (row.perplexity_after) {
      utility = perplexity_text(*row.perplexity_after);
      if (row.perplexity_before)
        utility = fmt::format("{}{}{}", perplexity_text(*row.perplexity_before), arrow, utility);
    }
    const auto words = row.scores.words();
    std::vector<TextCell> cells = {{fmt::format("{} {}", row.attack, labels.method(row))}};
    if (threat_column) cells.push_back({printable(results.threat_model(row).name)});
    cells.push_back({compact ? std::to_string(row.messages) : labels.client(row)});
    cells.push_back(
        {printable(compact ? labels.short_protocol(row.protocol) : labels.protocol(row.protocol))});
    cells.push_back({printable(labels.defence(row.defence)), row.defence.none() ? Tone::faint : Tone::plain});
    cells.push_back(
        {fmt::format("{} of {}{}", row.recovered, row.truth, row.certified.value_or(false) ? " ✓" : "  ")});
    cells.push_back({or_dash(row.scores.exact, fraction_text), tone_of(row.scores.exact)});
    if (records)
      cells.push_back({or_dash(row.scores.top_50, fraction_text), tone_of(row.scores.top_50)});
    else
      cells.push_back({or_dash(words, fraction_text), tone_of(words)});
    if (records)
      cells.push_back({or_dash(row.scores.edits, ratio_text)});
    else if (sequences)
      cells.push_back(
          {or_dash(row.scores.total_accuracy, fraction_text), tone_of(row.scores.total_accuracy)});
    else
      cells.push_back({or_dash(row.scores.levenshtein_paper, ratio_text)});
    cells.push_back({utility});
    layout.rows.push_back(std::move(cells));
    layout.ruled.push_back(row.messages != client);  // a rule between clients
    client = row.messages;
  }
  return layout;
}

std::string fitted(const Results& results, int width, const Painter& paint) {
  const Labels labels(results);
  const TextTable full = layout_of(results, labels, false);
  if (auto wide = fitted_table(full, width, {}, paint)) return std::move(*wide);
  const TextTable compact = layout_of(results, labels, true);
  for (const TableFit fit : {TableFit{2, false}, TableFit{2, true}, TableFit{1, true}})
    if (auto narrow = fitted_table(compact, width, fit, paint)) return std::move(*narrow);
  return table_blocks(full, width, paint);
}

void append_notes(std::string& out, const Results& results, int width, const Painter& paint) {
  const auto any = [&](auto&& test) { return std::ranges::any_of(results.rows, test); };
  const auto note = [&](const std::string& text) { out += paragraph(text, width, Tone::faint, paint); };
  out += "\n";
  if (one_threat_model(results)) {
    const ReportedThreatModel& threat = results.threat_model(results.rows.front());
    note(printable(fmt::format("threat model: {} (sees {}; does not see {}).", threat.name, threat.sees,
                               threat.does_not_see)));
  }
  if (any([](const ResultRow& row) { return row.certified.value_or(false); }))
    note(
        "✓ certified: the recovered messages explain the whole update, so the attacker knows without the "
        "truth.");
  if (any([](const ResultRow& row) { return row.oracle; }))
    note("(oracle): uses what only the truth tells; an upper bound for its method, not an attack.");
  if (results.of_records()) {
    note(
        "exact: records that are the first guess for their owner. top 50: those among the first 50. edits: "
        "from the "
        "first guess to the record. perplexity: of a character, before and after the federation; lower is "
        "better.");
    return;
  }
  if (results.of_sequences()) {
    note(
        "exact: sequences recovered whole. in place: tokens recovered in their sequence and their place. "
        "perplexity: of a fresh model before and after a short federated training in which all clients "
        "run "
        "the defence; lower is better.");
    return;
  }
  note(
      "exact: messages recovered word for word. Levenshtein: the paper's ratio (texts without a common word "
      "score about 43). perplexity: of a fresh model before and after a short federated training in which "
      "all "
      "clients run the defence; lower is better.");
}

}  // namespace

std::string terminal_table(const nlohmann::json& document, bool colour, int width) {
  const Results results = parse_results(document);
  const Painter paint(colour);
  std::string out = fitted(results, width, paint);
  append_notes(out, results, width, paint);
  out += defence_tables(results, width, paint);
  out += "\n";
  return out + paragraph(printable(findings_of(results).verdict), width, Tone::bold, paint);
}

}  // namespace undertext
