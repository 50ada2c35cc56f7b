#include "report/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/findings.h"
#include "report/labels.h"
#include "report/results.h"
#include "report/text_width.h"

namespace undertext {
namespace {

enum class Tone { plain, bold, faint, leak, some_leak, safe };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string title;
  bool number = false;  // right-aligned, never wrapped
};

// What is shown, before it is known how wide the columns become.
struct Layout {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as columns
};

struct Fit {
  int gap;
  std::vector<int> widths;  // of each column
  int total() const {
    return std::accumulate(widths.begin(), widths.end(), gap * (static_cast<int>(widths.size()) - 1));
  }
};

constexpr int kNarrowest = 9;  // columns that a wrapped text keeps; the longest single word has nine letters

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string operator()(const std::string& text, Tone tone) const {
    static constexpr const char* kCodes[] = {"", "\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[32m"};
    if (!colour_ || tone == Tone::plain || text.empty()) return text;
    return kCodes[static_cast<int>(tone)] + text + "\033[0m";
  }

 private:
  bool colour_;
};

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

// compact: shorter words, and no column for a threat model that all rows share (a note tells it).
Layout layout_of(const Results& results, const Labels& labels, bool compact) {
  const bool threat_column = !compact || !one_threat_model(results);
  Layout layout;
  layout.columns = {{"attack"}};
  if (threat_column) layout.columns.push_back({"threat model"});
  for (const Column& column :
       {Column{"client", true}, Column{"protocol"}, Column{"defence"}, Column{"recovered", true},
        Column{"exact", true}, Column{compact ? "F1" : "word F1", true},
        Column{compact ? "Lev." : "Levenshtein", true}, Column{"perplexity", true}})
    layout.columns.push_back(column);
  const std::string_view arrow = compact ? "→" : " → ";
  for (const ResultRow& row : results.rows) {
    std::string utility = "–";
    if (row.perplexity_after) {
      utility = perplexity_text(*row.perplexity_after);
      if (row.perplexity_before)
        utility = fmt::format("{}{}{}", perplexity_text(*row.perplexity_before), arrow, utility);
    }
    const auto words = row.scores.words();
    std::vector<Cell> cells = {{fmt::format("{} {}", row.attack, labels.method(row))}};
    if (threat_column) cells.push_back({printable(results.threat_model(row).name)});
    cells.push_back({compact ? std::to_string(row.messages) : labels.client(row)});
    cells.push_back(
        {printable(compact ? labels.short_protocol(row.protocol) : labels.protocol(row.protocol))});
    cells.push_back({printable(labels.defence(row.defence)), row.defence.none() ? Tone::faint : Tone::plain});
    cells.push_back(
        {fmt::format("{} of {}{}", row.recovered, row.truth, row.certified.value_or(false) ? " ✓" : "  ")});
    cells.push_back({or_dash(row.scores.exact, fraction_text), tone_of(row.scores.exact)});
    cells.push_back({or_dash(words, fraction_text), tone_of(words)});
    cells.push_back({or_dash(row.scores.levenshtein_paper, ratio_text)});
    cells.push_back({utility});
    layout.rows.push_back(std::move(cells));
  }
  return layout;
}

std::string aligned(const std::string& text, int width, bool right) {
  const std::string padding(static_cast<std::size_t>(std::max(0, width - text_width(text))), ' ');
  return right ? padding + text : text + padding;
}

// The columns within `width` (0: any), or nothing when they do not fit. wrap: texts may take several lines.
std::optional<Fit> fit(const Layout& layout, int width, int gap, bool wrap) {
  Fit fit{gap, {}}, least{gap, {}};
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    int widest = text_width(layout.columns[c].title);
    for (const auto& row : layout.rows) widest = std::max(widest, text_width(row[c].text));
    fit.widths.push_back(widest);
    least.widths.push_back(layout.columns[c].number || !wrap ? widest : std::min(widest, kNarrowest));
  }
  if (width == 0) return fit;
  if (least.total() > width) return std::nullopt;
  while (fit.total() > width) {  // take a column from the text that can best spare it
    std::size_t richest = 0;
    for (std::size_t c = 0; c < fit.widths.size(); ++c)
      if (fit.widths[c] - least.widths[c] > fit.widths[richest] - least.widths[richest]) richest = c;
    --fit.widths[richest];
  }
  return fit;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

// One row, over as many lines as its longest cell needs.
void append_row(std::string& out, const std::vector<Column>& columns, const std::vector<Cell>& cells,
                const Fit& fit, const Painter& paint) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    lines.push_back(columns[c].number ? std::vector{cells[c].text} : wrap_text(cells[c].text, fit.widths[c]));
    height = std::max(height, lines.back().size());
  }
  for (std::size_t h = 0; h < height; ++h) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string text = h < lines[c].size() ? lines[c][h] : "";
      if (c > 0) line += std::string(static_cast<std::size_t>(fit.gap), ' ');
      line +=
          paint(aligned(text, fit.widths[c], columns[c].number), text.empty() ? Tone::plain : cells[c].tone);
    }
    append_line(out, line);
  }
}

std::string as_table(const Results& results, const Layout& layout, const Fit& fit, const Painter& paint) {
  std::string rule;
  for (int i = 0; i < fit.total(); ++i) rule += "─";
  std::vector<Cell> header;
  for (const Column& column : layout.columns) header.push_back({column.title, Tone::bold});
  std::string out;
  append_row(out, layout.columns, header, fit, paint);
  for (std::size_t r = 0; r < layout.rows.size();
       ++r) {  // a rule between clients, so that the eye keeps its place
    const bool new_client = r == 0 || results.rows[r].messages != results.rows[r - 1].messages;
    if (new_client) out += paint(rule, Tone::faint) + "\n";
    append_row(out, layout.columns, layout.rows[r], fit, paint);
  }
  return out;
}

// For very narrow terminals: one block per row, a line per column.
std::string as_blocks(const Layout& layout, int width, const Painter& paint) {
  constexpr int kGap = 2;
  int label = 0;
  for (const Column& column : layout.columns) label = std::max(label, text_width(column.title));
  const int room = std::max(kNarrowest, width - label - kGap);
  std::string out;
  for (const auto& row : layout.rows) {
    if (!out.empty()) out += "\n";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto lines = wrap_text(row[c].text, room);
      for (std::size_t h = 0; h < lines.size(); ++h) {
        const std::string title = h == 0 ? layout.columns[c].title : "";
        append_line(out, paint(aligned(title, label, false), Tone::faint) + std::string(kGap, ' ') +
                             paint(lines[h], row[c].tone));
      }
    }
  }
  return out;
}

std::string fitted(const Results& results, int width, const Painter& paint) {
  const Labels labels(results);
  const Layout full = layout_of(results, labels, false);
  if (const auto wide = fit(full, width, 2, false)) return as_table(results, full, *wide, paint);
  const Layout compact = layout_of(results, labels, true);
  for (const auto& [gap, wrap] : {std::pair(2, false), std::pair(2, true), std::pair(1, true)})
    if (const auto narrow = fit(compact, width, gap, wrap)) return as_table(results, compact, *narrow, paint);
  return as_blocks(full, width, paint);
}

void append_notes(std::string& out, const Results& results, int width, const Painter& paint) {
  const auto any = [&](auto&& test) { return std::ranges::any_of(results.rows, test); };
  const auto note = [&](const std::string& text) {
    for (const std::string& line : wrap_text(text, width == 0 ? 100 : width))
      out += paint(line, Tone::faint) + "\n";
  };
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
  note(
      "exact: messages recovered word for word. Levenshtein: the paper's ratio (texts without a common word "
      "score about 43). perplexity: before and after local training; lower is better.");
}

}  // namespace

std::string terminal_table(const nlohmann::json& document, bool colour, int width) {
  const Results results = parse_results(document);
  const Painter paint(colour);
  std::string out = fitted(results, width, paint);
  append_notes(out, results, width, paint);
  out += "\n";
  for (const std::string& line : wrap_text(printable(findings_of(results).verdict), width == 0 ? 100 : width))
    out += paint(line, Tone::bold) + "\n";
  return out;
}

}  // namespace undertext
