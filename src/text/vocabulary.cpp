#include "text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "text/token_list.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::size_t kFileLimit = std::size_t{256} << 20;  // bytes of a vocab.txt
constexpr std::size_t kWordLimit = 1000;                    // bytes of one word

bool is_separator(char32_t c) {
  if (c == U'\'' || c == U'\\') return false;
  const bool punctuation = (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) ||
                           (c >= 0x7B && c <= 0x7E);
  return punctuation || is_white_space(c);
}

// Why a line cannot be a vocabulary's word; empty when it can.
std::string word_fault(std::string_view word) {
  if (word.empty()) return "is empty; expected one word a line";
  if (word.size() > kWordLimit) return fmt::format("is longer than {} bytes; expected one word", kWordLimit);
  if (word.back() == '\r') return "ends in CR LF; expected lines that end in LF alone";
  if (word.starts_with("\xEF\xBB\xBF")) return "starts with a byte order mark; expected plain UTF-8";
  if (find_invalid_utf8(word)) return "is not UTF-8";
  for (std::size_t i = 0; i < word.size();) {
    const CodePoint code_point = *decode_utf8(word, i);
    if (is_white_space(code_point.value)) return "holds white space; expected one word a line";
    if (code_point.value < 0x20 || code_point.value == 0x7F) return "holds a control character";
    i += code_point.bytes;
  }
  return "";
}

}  // namespace

std::vector<std::string> keyboard_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.empty()) return;
    if (word == "i") word = "I";
    words.push_back(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto code_point = decode_utf8(text, i);
    if (!code_point) {
      word.push_back(text[i++]);  // a stray byte makes an unknown word, not a failure
      continue;
    }
    i += code_point->bytes;
    const char32_t c = code_point->value == 0x2019 ? U'\'' : code_point->value;
    if (is_separator(c)) {
      finish();
    } else {
      append_utf8(word, lower_latin(c));
    }
  }
  finish();
  return words;
}

Vocabulary::Vocabulary(std::vector<std::string> words) : Vocabulary(std::move(words), "the vocabulary") {}

Vocabulary::Vocabulary(std::vector<std::string> words, const std::string& source) : words_(std::move(words)) {
  if (words_.size() > static_cast<std::size_t>(std::numeric_limits<Token>::max())) {
    fail("{}: {} words; at most {} are supported", source, words_.size(), std::numeric_limits<Token>::max());
  }
  ids_.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string fault = word_fault(words_[i]);
    if (!fault.empty()) fail("{}: line {} {}", source, i + 1, fault);
    const auto [place, is_new] = ids_.emplace(words_[i], static_cast<Token>(i));
    if (!is_new)
      fail("{}: line {} repeats the word '{}' of line {}", source, i + 1, words_[i], place->second + 1);
  }
  end_ = find_special("</S>", source);
  start_ = find_special("<S>", source);
  unknown_ = find_special("<UNK>", source);
}

Token Vocabulary::find_special(const std::string& word, const std::string& source) const {
  const auto place = ids_.find(word);
  if (place == ids_.end()) {
    fail("{}: none of its {} lines is '{}'; expected a word vocabulary with </S>, <S> and <UNK>", source,
         words_.size(), word);
  }
  return place->second;
}

Vocabulary Vocabulary::load(const std::filesystem::path& file) {
  return parse(read_file(file, kFileLimit), file.string());
}

Vocabulary Vocabulary::parse(std::string_view content, const std::string& source) {
  return Vocabulary(token_lines(content, source), source);
}

void Vocabulary::save(const std::filesystem::path& folder) const {
  write_file(folder / "vocab.txt", [&](std::ostream& out) {
    for (const std::string& word : words_) out << word << '\n';
  });
}

SpecialTokens Vocabulary::special() const {
  return {.start = start_, .end = end_, .unknown = unknown_, .mask = std::nullopt, .padding = std::nullopt};
}

Token Vocabulary::id(std::string_view word) const {
  const auto place = ids_.find(std::string(word));
  return place == ids_.end() ? unknown_ : place->second;
}

Sentence Vocabulary::encode(std::string_view sentence) const {
  Sentence ids;
  for (const std::string& word : keyboard_words(sentence)) ids.push_back(id(word));
  return ids;
}

std::string Vocabulary::decode(std::span<const Token> sentence) const {
  std::string text;
  for (const Token id : sentence) {
    if (!text.empty()) text += ' ';
    text += word(id);
  }
  return text;
}

Vocabulary build_vocabulary(std::span<const std::string> texts, std::int64_t max_words) {
  std::vector<std::string> words = {"</S>", "<S>", "<UNK>"};
  UNDERTEXT_CHECK(max_words >= static_cast<std::int64_t>(words.size()));
  std::map<std::string, std::int64_t> counts;  // ordered, so that the stable sort leaves ties alphabetical
  for (const std::string& text : texts) {
    // A stray byte cannot be saved in a vocab.txt; such a word stays unknown.
    for (const std::string& word : keyboard_words(text)) {
      if (word_fault(word).empty()) ++counts[word];
    }
  }
  std::vector<std::pair<std::string, std::int64_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (auto& [word, count] : ranked) {
    if (static_cast<std::int64_t>(words.size()) == max_words) break;
    words.push_back(std::move(word));
  }
  return Vocabulary(std::move(words));
}

}  // namespace undertext
