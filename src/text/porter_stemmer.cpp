#include "text/porter_stemmer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace undertext {
namespace {

// A word while it is shortened. The conditions are the paper's, each of the stem that is left when a suffix
// is taken off: its first `length` letters.
class Word {
 public:
  explicit Word(std::string_view letters) : letters_(letters) {}

  const std::string& letters() const { return letters_; }
  std::size_t size() const { return letters_.size(); }
  bool ends(std::string_view suffix) const { return letters_.ends_with(suffix); }
  std::size_t without(std::string_view suffix) const { return letters_.size() - suffix.size(); }

  // y is a vowel after a consonant.
  bool consonant(std::size_t i) const {
    switch (letters_[i]) {
      case 'a':
      case 'e':
      case 'i':
      case 'o':
      case 'u':
        return false;
      case 'y':
        return i == 0 || !consonant(i - 1);
      default:
        return true;
    }
  }

  // m of [C](VC)^m[V].
  int measure(std::size_t length) const {
    int m = 0;
    for (std::size_t i = 1; i < length; ++i) m += !consonant(i - 1) && consonant(i) ? 1 : 0;
    return m;
  }

  // *v*
  bool has_vowel(std::size_t length) const {
    for (std::size_t i = 0; i < length; ++i)
      if (!consonant(i)) return true;
    return false;
  }

  // *d
  bool ends_double() const {
    const std::size_t n = size();
    return n >= 2 && letters_[n - 1] == letters_[n - 2] && consonant(n - 1);
  }

  // *o: consonant, vowel, consonant, the last not w, x or y.
  bool ends_short(std::size_t length) const {
    if (length < 3 || !consonant(length - 1) || consonant(length - 2) || !consonant(length - 3)) return false;
    const char last = letters_[length - 1];
    return last != 'w' && last != 'x' && last != 'y';
  }

  void cut(std::size_t length, std::string_view end = "") {
    letters_.resize(length);
    letters_ += end;
  }

 private:
  std::string letters_;
};

struct Rule {
  std::string_view suffix, replacement;
};

// Of the rules the one with the longest suffix that fits; it acts where the stem's measure exceeds `above`.
void apply(Word& word, std::span<const Rule> rules, int above) {
  const Rule* longest = nullptr;
  for (const Rule& rule : rules)
    if (word.ends(rule.suffix) && (!longest || rule.suffix.size() > longest->suffix.size())) longest = &rule;
  if (!longest) return;
  const std::size_t stem = word.without(longest->suffix);
  if (word.measure(stem) > above) word.cut(stem, longest->replacement);
}

void step_1a(Word& word) {
  if (word.ends("sses") || word.ends("ies")) {
    word.cut(word.size() - 2);
  } else if (word.ends("s") && !word.ends("ss")) {
    word.cut(word.size() - 1);
  }
}

void step_1b(Word& word) {
  if (word.ends("eed")) {
    if (word.measure(word.without("eed")) > 0) word.cut(word.size() - 1);
    return;
  }
  const std::string_view suffix = word.ends("ed") ? "ed" : word.ends("ing") ? "ing" : "";
  if (suffix.empty() || !word.has_vowel(word.without(suffix))) return;
  word.cut(word.without(suffix));
  if (word.ends("at") || word.ends("bl") || word.ends("iz")) {
    word.cut(word.size(), "e");
  } else if (word.ends_double() && !word.ends("l") && !word.ends("s") && !word.ends("z")) {
    word.cut(word.size() - 1);
  } else if (word.measure(word.size()) == 1 && word.ends_short(word.size())) {
    word.cut(word.size(), "e");
  }
}

void step_1c(Word& word) {
  if (word.ends("y") && word.has_vowel(word.size() - 1)) word.cut(word.size() - 1, "i");
}

constexpr auto kStep2 = std::to_array<Rule>(
    {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
     {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
     {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
     {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
     {"logi", "log"}});
constexpr auto kStep3 = std::to_array<Rule>({{"icate", "ic"},
                                             {"ative", ""},
                                             {"alize", "al"},
                                             {"iciti", "ic"},
                                             {"ical", "ic"},
                                             {"ful", ""},
                                             {"ness", ""}});
constexpr auto kStep4 =
    std::to_array<std::string_view>({"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
                                     "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"});

void step_4(Word& word) {
  std::string_view longest;
  for (const std::string_view suffix : kStep4)
    if (word.ends(suffix) && suffix.size() > longest.size()) longest = suffix;
  if (longest.empty()) return;
  const std::size_t stem = word.without(longest);
  if (word.measure(stem) <= 1) return;
  // "ion" goes after s and t alone.
  if (longest == "ion" && word.letters()[stem - 1] != 's' && word.letters()[stem - 1] != 't') return;
  word.cut(stem);
}

void step_5(Word& word) {
  if (word.ends("e")) {
    const std::size_t stem = word.size() - 1;
    const int m = word.measure(stem);
    if (m > 1 || (m == 1 && !word.ends_short(stem))) word.cut(stem);
  }
  if (word.ends("ll") && word.measure(word.size()) > 1) word.cut(word.size() - 1);
}

}  // namespace

std::string porter_stem(std::string_view word) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (word.size() <= 2 || !std::ranges::all_of(word, letter)) return std::string(word);
  Word stem(word);
  step_1a(stem);
  step_1b(stem);
  step_1c(stem);
  apply(stem, kStep2, 0);
  apply(stem, kStep3, 0);
  step_4(stem);
  step_5(stem);
  return stem.letters();
}

}  // namespace undertext
