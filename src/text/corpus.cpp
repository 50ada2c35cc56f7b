#include "text/corpus.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::size_t kLineLimit = 1'000'000;  // bytes
constexpr std::size_t kWordsLimit = 10'000;    // words of one sentence
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Line {
  std::size_t number;  // counted from 1, blank lines included
  std::string text;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\v\f\r";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::vector<Line> read_numbered_lines(const std::filesystem::path& file) {
  const std::string content = read_file(file);
  std::string_view rest = content;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<Line> lines;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() > kLineLimit) {
      fail("{}: line {} has {} bytes; expected one sentence a line, {} bytes at most", file.string(), number,
           line.size(), kLineLimit);
    }
    if (const auto offset = find_invalid_utf8(line)) {
      fail("{}: line {} is not UTF-8 (byte 0x{:02x}); expected UTF-8 text, one sentence a line",
           file.string(), number, static_cast<unsigned char>(line[*offset]));
    }
    if (line.find('\0') != std::string_view::npos) {
      fail("{}: line {} holds a NUL byte; expected text, one sentence a line", file.string(), number);
    }
    if (!line.empty()) lines.push_back({number, std::string(line)});
  }
  if (lines.empty()) {
    fail("{}: {}; expected text, one sentence a line", file.string(),
         content.empty() ? "the file is empty" : "all lines are blank");
  }
  return lines;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> texts;
  for (Line& line : read_numbered_lines(file)) texts.push_back(std::move(line.text));
  return texts;
}

std::vector<Sentence> read_sentences(const std::filesystem::path& file, const Tokenizer& tokenizer) {
  std::vector<Sentence> sentences;
  for (const Line& line : read_numbered_lines(file)) {
    Sentence sentence = tokenizer.encode(line.text);
    if (sentence.empty()) {
      fail("{}: line {} holds no word, only punctuation; expected one sentence a line", file.string(),
           line.number);
    }
    if (sentence.size() > kWordsLimit) {
      fail("{}: line {} has {} words; expected one sentence a line, {} words at most", file.string(),
           line.number, sentence.size(), kWordsLimit);
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace undertext
