#include "federated/text_shares.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "text/utf8.h"

namespace undertext {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto character = decode_utf8(text, i);
    if (character)
      append_utf8(lower, lower_latin(character->value));
    else
      lower += text[i];
    i += character ? character->bytes : 1;
  }
  return lower;
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// A text in units that can be cut apart: characters, or lines.
class Units {
 public:
  Units(const TextSource& source, const ShareOptions& options) : by_line_(options.by_line) {
    if (by_line_) {
      for (const std::string& line : source.lines)
        lines_.push_back(options.lower ? in_lower_case(line) : line);
      count_ = std::ssize(lines_);
    } else {
      text_ = joined(source.lines);
      if (options.lower) text_ = in_lower_case(text_);
      count_ = std::ranges::count_if(text_, begins_character);
    }
  }

  std::int64_t count() const { return count_; }

  // The next ones after those taken before.
  std::vector<std::string> take(std::int64_t units) {
    if (by_line_) {
      const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(at_);
      at_ += static_cast<std::size_t>(units);
      return {first, first + static_cast<std::ptrdiff_t>(units)};
    }
    const std::size_t first = at_;
    for (std::int64_t passed = 0; at_ < text_.size(); ++at_)
      if (begins_character(text_[at_]) && passed++ == units) break;
    return lines_in(std::string_view(text_).substr(first, at_ - first));
  }

 private:
  bool by_line_;
  std::string text_;
  std::vector<std::string> lines_;
  std::int64_t count_ = 0;
  std::size_t at_ = 0;  // bytes, or lines
};

}  // namespace

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

TextShares share_text(const TextSource& source, const ShareOptions& options,
                      const std::optional<TextSource>& held_out) {
  UNDERTEXT_CHECK(options.clients >= 1 && options.size >= 0);
  const char* unit = options.by_line ? "lines" : "characters";
  Units units(source, options);
  const std::int64_t shares = options.clients + (held_out ? 0 : 2);
  const std::int64_t size = options.size > 0 ? options.size : units.count() / shares;
  if (size == 0 || units.count() / shares < size)
    fail("{}: {} {}, expected at least {} for {} clients of {}{}", source.name, units.count(), unit,
         std::max<std::int64_t>(size, 1) * shares, options.clients, std::max<std::int64_t>(size, 1),
         held_out ? "" : ", the server's validation and a test");
  TextShares made;
  for (std::int64_t client = 0; client < options.clients; ++client) made.clients.push_back(units.take(size));
  if (held_out) {
    Units own(*held_out, options);
    const std::int64_t half = std::min(size, own.count() / 2);
    if (half == 0)
      fail("{}: {} {}, expected at least 2 for the server's validation and a test", held_out->name,
           own.count(), unit);
    made.validation = own.take(half);
    made.test = own.take(half);
  } else {
    made.validation = units.take(size);
    made.test = units.take(size);
  }
  return made;
}

}  // namespace undertext
