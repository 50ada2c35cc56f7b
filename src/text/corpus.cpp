#include "text/corpus.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::size_t kLineLimit = 1'000'000;  // bytes
constexpr std::size_t kWordsLimit = 10'000;    // words of one sentence
constexpr std::string_view kSentences = "one sentence a line", kIds = "one list of token ids a line",
                           kEntities = "one named entity a line";
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

// expected: what a line should hold, "one sentence a line".
std::vector<Line> numbered_lines(std::string_view content, const std::string& source,
                                 std::string_view expected) {
  std::string_view rest = content;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<Line> lines;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() > kLineLimit)
      fail("{}: line {} has {} bytes; expected {}, {} bytes at most", source, number, line.size(), expected,
           kLineLimit);
    if (const auto offset = find_invalid_utf8(line))
      fail("{}: line {} is not UTF-8 (byte 0x{:02x}); expected UTF-8 text, {}", source, number,
           static_cast<unsigned char>(line[*offset]), expected);
    if (line.find('\0') != std::string_view::npos)
      fail("{}: line {} holds a NUL byte; expected text, {}", source, number, expected);
    if (!line.empty()) lines.push_back({number, std::string(line)});
  }
  if (lines.empty())
    fail("{}: {}; expected text, {}", source, content.empty() ? "the file is empty" : "all lines are blank",
         expected);
  return lines;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> texts;
  for (Line& line : numbered_lines(read_file(file), file.string(), kSentences))
    texts.push_back(std::move(line.text));
  return texts;
}

EntityFinder read_entities(const std::filesystem::path& file) {
  std::vector<std::string> entities;
  for (Line& line : numbered_lines(read_file(file), file.string(), kEntities)) {
    if (EntityFinder(std::span(&line.text, 1)).finds_nothing())
      fail("{}: line {} holds no word; expected {}", file.string(), line.number, kEntities);
    entities.push_back(std::move(line.text));
  }
  return EntityFinder(entities);
}

std::vector<Sentence> read_sentences(const std::filesystem::path& file, const Tokenizer& tokenizer,
                                     const TextFilter& filter) {
  std::vector<Sentence> sentences;
  for (const Line& line : numbered_lines(read_file(file), file.string(), kSentences)) {
    for (const std::string& text : filtered({line.text}, filter)) {
      Sentence sentence = tokenizer.encode(text);
      if (!filter.keeps(sentence, tokenizer)) continue;
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
  }
  if (sentences.empty()) fail("{}: the filter leaves no text", file.string());
  return sentences;
}

std::vector<Sentence> read_ids(const std::filesystem::path& file, std::int64_t vocabulary_size) {
  return parse_ids(read_file(file), vocabulary_size, file.string());
}

std::vector<Sentence> parse_ids(std::string_view content, std::int64_t vocabulary_size,
                                const std::string& source) {
  std::vector<Sentence> sentences;
  for (const Line& line : numbered_lines(content, source, kIds)) {
    const nlohmann::json list = nlohmann::json::parse(line.text, nullptr, false);
    if (!list.is_array() || list.empty())
      fail("{}: line {} is not a list of token ids; expected a line like [12, 7]", source, line.number);
    if (list.size() > kWordsLimit)
      fail("{}: line {} has {} ids; expected {}, {} ids at most", source, line.number, list.size(), kIds,
           kWordsLimit);
    Sentence sentence;
    for (const nlohmann::json& id : list) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocabulary_size))
        fail("{}: line {} holds {}; expected ids from 0 to {}", source, line.number,
             id.is_number() ? id.dump() : "what is no number", vocabulary_size - 1);
      sentence.push_back(id.get<Token>());
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace undertext
