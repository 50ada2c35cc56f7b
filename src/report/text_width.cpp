#include "report/text_width.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

#include "text/utf8.h"

namespace undertext {
namespace {

// The C library's own width tables, whatever locale the user runs; the locale is set for this thread and this
// scope only.
class Utf8Locale {
 public:
  Utf8Locale() : previous_(uselocale(shared())) {}
  ~Utf8Locale() { uselocale(previous_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t shared() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;  // a null locale leaves the current one
  }
  locale_t previous_;
};

// Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the line separators.
bool changes_direction_or_line(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

int width_of(char32_t c) {
  return std::max(0, wcwidth(static_cast<wchar_t>(c)));
}

}  // namespace

int text_width(std::string_view text) {
  const Utf8Locale locale;
  int width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    width += point ? width_of(point->value) : 1;
    i += point ? point->bytes : 1;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    const std::size_t bytes = point ? point->bytes : 1;
    if (!point || is_control(point->value) || changes_direction_or_line(point->value))
      clean += "\uFFFD";
    else
      clean += text.substr(i, bytes);
    i += bytes;
  }
  return clean;
}

std::vector<std::string> wrap_text(std::string_view text, int width) {
  const Utf8Locale locale;
  std::vector<std::string> lines(1);
  int used = 0;
  const auto new_line = [&] {
    lines.emplace_back();
    used = 0;
  };
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const int needed = text_width(word);
    if (used > 0 && used + 1 + needed > width) new_line();
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    if (needed <= width - used) {
      lines.back() += word;
      used += needed;
    } else {  // longer than a whole line: break inside
      for (std::size_t i = 0; i < word.size();) {
        const auto point = decode_utf8(word, i);
        const int columns = point ? width_of(point->value) : 1;
        if (used > 0 && used + columns > width) new_line();
        lines.back() += word.substr(i, point ? point->bytes : 1);
        used += columns;
        i += point ? point->bytes : 1;
      }
    }
    start = end + 1;
  }
  return lines;
}

}  // namespace undertext
