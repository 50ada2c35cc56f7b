#include "text/text_filter.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "text/entities.h"

namespace undertext {

namespace {

bool is_abbreviation(const std::string& word) {
  static const std::unordered_set<std::string> kUsual = {
      "Mr", "Mrs", "Ms",  "Dr",  "Prof", "St",   "Sen", "Gov", "Gen", "Capt", "Col", "Lt",
      "Jr", "Sr",  "Inc", "inc", "Corp", "corp", "Co",  "co",  "Ltd", "ltd",  "vs",  "etc"};
  if (word.size() == 1) return word[0] >= 'A' && word[0] <= 'Z';
  return kUsual.contains(word);
}

// word: with its punctuation; before: the word that a full stop ends.
bool ends_sentence(const std::string& word, const std::string& before) {
  const std::size_t last = word.find_last_not_of("\"')]}");
  if (last == std::string::npos) return false;
  if (word[last] == '!' || word[last] == '?') return true;
  return word[last] == '.' && !is_abbreviation(before.substr(0, before.find('.')));
}

}  // namespace

bool TextFilter::any() const {
  return split || min_words > 0 || max_words > 0 || max_tokens > 0 || max_unknown >= 0 || min_entities > 0;
}

bool TextFilter::keeps(std::string_view text) const {
  std::int64_t words = 0, unknown = 0;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word; ++words) unknown += word == "<unk>" ? 1 : 0;
  if (words < min_words || (max_words > 0 && words > max_words)) return false;
  if (max_unknown >= 0 && unknown > max_unknown) return false;
  if (min_entities == 0) return true;
  const std::vector<Entity> entities = find_entities(text);
  return std::ranges::count_if(entities, names_something, &Entity::kind) >= min_entities;
}

bool TextFilter::keeps(const Sentence& sentence, const Tokenizer& tokenizer) const {
  if (max_tokens > 0 && std::ssize(sentence) > max_tokens) return false;
  const std::optional<Token> unknown = tokenizer.special().unknown;
  return max_unknown < 0 || !unknown || std::ranges::count(sentence, *unknown) <= max_unknown;
}

std::vector<std::string> split_sentences(std::string_view text) {
  std::vector<std::string> words, sentences;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
  std::string sentence;
  for (std::size_t i = 0; i < words.size(); ++i) {
    sentence += (sentence.empty() ? "" : " ") + words[i];
    const bool last = i + 1 == words.size();
    // A full stop that stands alone, as WikiText has it, belongs to the word before.
    const std::string& before = words[i] == "." && i > 0 ? words[i - 1] : words[i];
    if (last || (ends_sentence(words[i], before) && !(words[i + 1][0] >= 'a' && words[i + 1][0] <= 'z'))) {
      sentences.push_back(std::move(sentence));
      sentence.clear();
    }
  }
  return sentences;
}

std::vector<std::string> filtered(std::vector<std::string> texts, const TextFilter& filter) {
  if (filter.split) {
    std::vector<std::string> sentences;
    for (const std::string& text : texts) {
      if (text.find_first_not_of(' ') == text.find('=')) continue;
      for (std::string& sentence : split_sentences(text)) sentences.push_back(std::move(sentence));
    }
    texts = std::move(sentences);
  }
  if (filter.any()) std::erase_if(texts, [&](const std::string& text) { return !filter.keeps(text); });
  return texts;
}

}  // namespace undertext
