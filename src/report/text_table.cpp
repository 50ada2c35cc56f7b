#include "report/text_table.h"

#include <algorithm>
#include <numeric>

#include "report/text_width.h"

namespace undertext {
namespace {

constexpr int kNarrowest = 9;  // columns that a wrapped text keeps; the longest single word has nine letters

struct Widths {
  int gap;
  std::vector<int> columns;
  int total() const {
    return std::accumulate(columns.begin(), columns.end(), gap * (static_cast<int>(columns.size()) - 1));
  }
};

std::string aligned(const std::string& text, int width, bool right) {
  const std::string padding(static_cast<std::size_t>(std::max(0, width - text_width(text))), ' ');
  return right ? padding + text : text + padding;
}

std::optional<Widths> widths_of(const TextTable& table, int width, TableFit fit) {
  Widths widths{fit.gap, {}}, least{fit.gap, {}};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int widest = text_width(table.columns[c].title);
    for (const auto& row : table.rows) widest = std::max(widest, text_width(row[c].text));
    widths.columns.push_back(widest);
    least.columns.push_back(table.columns[c].number || !fit.wrap ? widest : std::min(widest, kNarrowest));
  }
  if (width == 0) return widths;
  if (least.total() > width) return std::nullopt;
  while (widths.total() > width) {  // take a column from the text that can best spare it
    std::size_t richest = 0;
    for (std::size_t c = 0; c < widths.columns.size(); ++c)
      if (widths.columns[c] - least.columns[c] > widths.columns[richest] - least.columns[richest])
        richest = c;
    --widths.columns[richest];
  }
  return widths;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

// One row, over as many lines as its longest cell needs.
void append_row(std::string& out, const std::vector<TextColumn>& columns, const std::vector<TextCell>& cells,
                const Widths& widths, const Painter& paint) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    lines.push_back(columns[c].number ? std::vector{cells[c].text}
                                      : wrap_text(cells[c].text, widths.columns[c]));
    height = std::max(height, lines.back().size());
  }
  for (std::size_t h = 0; h < height; ++h) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string text = h < lines[c].size() ? lines[c][h] : "";
      if (c > 0) line += std::string(static_cast<std::size_t>(widths.gap), ' ');
      line += paint(aligned(text, widths.columns[c], columns[c].number),
                    text.empty() ? Tone::plain : cells[c].tone);
    }
    append_line(out, line);
  }
}

}  // namespace

std::string Painter::operator()(const std::string& text, Tone tone) const {
  static constexpr const char* kCodes[] = {"", "\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[32m"};
  if (!colour_ || tone == Tone::plain || text.empty()) return text;
  return kCodes[static_cast<int>(tone)] + text + "\033[0m";
}

std::optional<std::string> fitted_table(const TextTable& table, int width, TableFit fit,
                                        const Painter& paint) {
  const auto widths = widths_of(table, width, fit);
  if (!widths) return std::nullopt;
  std::string rule;
  for (int i = 0; i < widths->total(); ++i) rule += "─";
  std::vector<TextCell> header;
  for (const TextColumn& column : table.columns) header.push_back({column.title, Tone::bold});
  std::string out;
  append_row(out, table.columns, header, *widths, paint);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (r == 0 || (r < table.ruled.size() && table.ruled[r])) out += paint(rule, Tone::faint) + "\n";
    append_row(out, table.columns, table.rows[r], *widths, paint);
  }
  return out;
}

std::string table_blocks(const TextTable& table, int width, const Painter& paint) {
  constexpr int kGap = 2;
  int label = 0;
  for (const TextColumn& column : table.columns) label = std::max(label, text_width(column.title));
  constexpr int kUsualLabel = 16;  // our own titles stay on one line however narrow it is
  label = std::min(label, std::max(kUsualLabel, width / 2 - kGap));
  const int room = std::max(kNarrowest, width - label - kGap);
  std::string out;
  for (const auto& row : table.rows) {
    if (!out.empty()) out += "\n";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto titles = wrap_text(table.columns[c].title, label);
      const auto lines = wrap_text(row[c].text, room);
      for (std::size_t h = 0; h < std::max(titles.size(), lines.size()); ++h) {
        const std::string title = h < titles.size() ? titles[h] : "";
        append_line(out, paint(aligned(title, label, false), Tone::faint) + std::string(kGap, ' ') +
                             (h < lines.size() ? paint(lines[h], row[c].tone) : ""));
      }
    }
  }
  return out;
}

std::string paragraph(const std::string& text, int width, Tone tone, const Painter& paint) {
  std::string out;
  for (const std::string& line : wrap_text(text, width == 0 ? 100 : width)) out += paint(line, tone) + "\n";
  return out;
}

}  // namespace undertext
