// Tables for a terminal: columns that fit its width, colours where they are wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace undertext {

enum class Tone { plain, bold, faint, leak, some_leak, safe };

// Colours a text, or leaves it as it is (in a pipe).
class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string operator()(const std::string& text, Tone tone) const;

 private:
  bool colour_;
};

struct TextCell {
  std::string text;
  Tone tone = Tone::plain;
};

struct TextColumn {
  std::string title;
  bool number = false;  // right-aligned, never wrapped
};

// What is shown, before it is known how wide the columns become.
struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<TextCell>> rows;  // as many cells as columns
  std::vector<bool> ruled;  // by row: a rule above it, so that the eye keeps its place; empty: the first only
};

// How tight a table may be laid out.
struct TableFit {
  int gap = 2;        // blanks between columns
  bool wrap = false;  // texts may take several lines
};

// The table within `width` columns of the terminal (0: as many as it wants), or nothing when it does not fit.
std::optional<std::string> fitted_table(const TextTable& table, int width, TableFit fit,
                                        const Painter& paint);

// For very narrow terminals: one block per row, a line per column.
std::string table_blocks(const TextTable& table, int width, const Painter& paint);

// The text in lines of at most `width` columns (0: 100), all in one tone.
std::string paragraph(const std::string& text, int width, Tone tone, const Painter& paint);

}  // namespace undertext
