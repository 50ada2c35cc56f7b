#include "text/entities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "text/entity_words.h"

namespace undertext {
namespace {

constexpr std::size_t kLongestPlace = 3;  // words

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_letter(char c) {
  return is_capital(c) || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (is_capital(c)) c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// A word as it stands in the text, without the punctuation around it.
struct Word {
  std::string text, lower;
  bool begins_sentence = false;
  bool joined = false;  // nothing but space between this word and the one before
  bool bracketed = false;
  bool capital() const { return !text.empty() && is_capital(text.front()); }
};

// WikiText writes "short @-@ tail" and "3 @.@ 1".
std::string without_marks(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool mark = text[i] == '@' && i + 2 < text.size() && text[i + 2] == '@' &&
                      (text[i + 1] == '-' || text[i + 1] == ',' || text[i + 1] == '.');
    if (!mark) {
      result += text[i];
      continue;
    }
    while (!result.empty() && result.back() == ' ') result.pop_back();
    result += text[i + 1];
    i += 2;
    while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
  }
  return result;
}

std::vector<Word> words_of(std::string_view given) {
  static constexpr std::string_view kSpace = " \t\r\n", kBefore = "([{<\"'`*-/.,;:!?&",
                                    kAfter = ")]}>\"'`*-/.,;:!?&";
  const std::string text = without_marks(given);
  std::vector<Word> words;
  bool begins = true, joined = false;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string::npos;
       at = text.find_first_not_of(kSpace, at)) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    std::string_view chunk = std::string_view(text).substr(at, end - at);
    at = end;
    const std::size_t first = chunk.find_first_not_of(kBefore), last = chunk.find_last_not_of(kAfter);
    if (first == std::string_view::npos || last == std::string_view::npos || last < first) {
      // Punctuation on its own: an end of a sentence, or a break.
      begins = begins || chunk.find_first_of(".!?") != std::string_view::npos;
      joined = false;
      continue;
    }
    const std::string_view before = chunk.substr(0, first), after = chunk.substr(last + 1);
    std::string_view core = chunk.substr(first, last - first + 1);
    for (const std::string_view owner : {"'s", "\u2019s"})
      if (core.size() > owner.size() && core.ends_with(owner)) core.remove_suffix(owner.size());
    Word word;
    word.text = core;
    word.lower = lower(core);
    word.begins_sentence = begins;
    word.joined = joined && before.empty();
    word.bracketed = before.ends_with('(') && after.starts_with(')');
    words.push_back(std::move(word));
    // An abbreviation's full stop ends nothing: a single letter or a title.
    const bool abbreviation = core.size() == 1 || is_a(WordKind::title, words.back().lower);
    begins = after.find_first_of("!?") != std::string_view::npos || (after.starts_with('.') && !abbreviation);
    joined = after.empty() || (after == "." && abbreviation);
  }
  return words;
}

bool is_email(const std::string& word) {
  const std::size_t at = word.find('@');
  if (at == std::string::npos || at == 0 || !is_letter(word.back())) return false;
  const std::size_t dot = word.find('.', at);
  return dot != std::string::npos && dot > at + 1 && word.find('@', at + 1) == std::string::npos;
}

std::size_t digits_of(const std::string& word) {
  return static_cast<std::size_t>(std::ranges::count_if(word, is_digit));
}

bool only(const std::string& word, std::string_view others) {
  return std::ranges::all_of(word, [&](char c) { return is_digit(c) || others.find(c) != others.npos; });
}

bool is_phone(const std::string& word) {
  const std::size_t digits = digits_of(word);
  if (!only(word, "-.()+/") || digits < 7 || digits > 15) return false;
  const auto separators = word.size() - digits;
  // 713-853-6161 and +441234567890, not 1234567.50.
  return word.front() == '+' || std::ranges::count(word, '-') > 0 || separators > 1;
}

bool is_numeric_date(const std::string& word) {
  for (const char mark : {'/', '-'}) {
    std::vector<std::size_t> lengths = {0};
    if (!only(word, std::string_view(&mark, 1))) continue;
    for (const char c : word) c == mark ? lengths.push_back(0) : static_cast<void>(++lengths.back());
    const auto fits = [](std::size_t n, std::size_t most) { return n >= 1 && n <= most; };
    if (lengths.size() == 3 && ((fits(lengths[0], 2) && fits(lengths[1], 2) && fits(lengths[2], 4)) ||
                                (lengths[0] == 4 && fits(lengths[1], 2) && fits(lengths[2], 2))))
      return true;
    if (mark == '/' && lengths.size() == 2 && fits(lengths[0], 2) && fits(lengths[1], 2)) return true;
  }
  return false;
}

bool is_year(const std::string& word) {
  return word.size() == 4 && only(word, "") && (word.starts_with("19") || word.starts_with("20"));
}

// 14, 14th, 1st.
bool is_day(const std::string& word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::string rest = word.substr(digits);
  return digits >= 1 && digits <= 2 &&
         (rest.empty() || rest == "st" || rest == "nd" || rest == "rd" || rest == "th");
}

bool is_number(const std::string& word) {
  static constexpr std::string_view kCurrencies[] = {"$", "\u00A3", "\u20AC"};
  std::string_view rest = word;
  for (const std::string_view currency : kCurrencies)
    if (rest.starts_with(currency)) rest.remove_prefix(currency.size());
  if (rest.ends_with('%')) rest.remove_suffix(1);
  return !rest.empty() && is_digit(rest.front()) &&
         std::ranges::all_of(rest, [](char c) { return is_digit(c) || c == ',' || c == '.'; });
}

class Finder {
 public:
  explicit Finder(std::string_view text) : words_(words_of(text)) {}

  std::vector<Entity> find() {
    for (std::size_t i = 0; i < words_.size();) {
      const std::size_t taken = at(i);
      i += std::max<std::size_t>(taken, 1);
    }
    return std::move(found_);
  }

 private:
  std::string joined(std::size_t first, std::size_t count) const {
    std::string text = words_[first].lower;
    for (std::size_t i = first + 1; i < first + count; ++i) text += " " + words_[i].lower;
    return text;
  }

  std::size_t add(EntityKind kind, std::size_t first, std::size_t count) {
    found_.push_back({kind, joined(first, count)});
    return count;
  }

  bool follows(std::size_t i) const { return i < words_.size() && words_[i].joined; }

  // Whether a listed word means what the list says: it is never anything else, or it is written like a name.
  bool meant(std::size_t i) const {
    return !is_a(WordKind::common_too, words_[i].lower) ||
           (words_[i].capital() && !words_[i].begins_sentence);
  }

  // The number of words of the entity that begins here; 0: none does.
  std::size_t at(std::size_t i) {
    const Word& word = words_[i];
    if (is_email(word.text)) return add(EntityKind::email, i, 1);
    if (const std::size_t count = phone(i)) return add(EntityKind::phone, i, count);
    if (const std::size_t count = date(i)) return add(EntityKind::date, i, count);
    if (const std::size_t count = number(i)) return add(EntityKind::number, i, count);
    if (const std::size_t count = capitals(i)) return count;
    return listed(i);
  }

  std::size_t phone(std::size_t i) const {
    if (is_numeric_date(words_[i].text)) return 0;
    if (is_phone(words_[i].text)) return 1;
    const bool area = words_[i].bracketed && words_[i].text.size() == 3 && only(words_[i].text, "");
    if (!area || i + 1 >= words_.size()) return 0;
    const std::string& rest = words_[i + 1].text;
    return only(rest, "-.") && digits_of(rest) == 7 ? 2 : 0;
  }

  // Months and days are often followed by a comma, after which the year still belongs to them.
  std::size_t date(std::size_t i) const {
    const auto day = [&](std::size_t j) { return j < words_.size() && is_day(words_[j].lower); };
    const auto year = [&](std::size_t j) { return j < words_.size() && is_year(words_[j].text); };
    if (is_numeric_date(words_[i].text) || is_year(words_[i].text)) return 1;
    if (is_a(WordKind::weekday, words_[i].lower) && meant(i)) return 1;
    std::size_t month = i;
    if (day(i) && follows(i + 1) && is_a(WordKind::month, words_[i + 1].lower)) month = i + 1;  // 22 August
    if (!is_a(WordKind::month, words_[month].lower)) return 0;
    std::size_t end = month + 1;
    if (month == i && day(end) && follows(end)) ++end;
    const bool with_year = year(end);
    if (end == i + 1 && !with_year && !meant(i)) return 0;
    return end - i + (with_year ? 1 : 0);
  }

  std::size_t number(std::size_t i) const {
    if (!is_number(words_[i].text)) return 0;
    return follows(i + 1) && is_a(WordKind::number_word, words_[i + 1].lower) ? 2 : 1;
  }

  // A run of words with capital letters, "of" and the like between them.
  std::size_t capitals(std::size_t i) {
    const auto named = [&](std::size_t j) {
      return words_[j].capital() && !is_a(WordKind::function_word, words_[j].lower);
    };
    if (!named(i)) return 0;
    std::size_t end = i + 1;
    for (std::size_t j = end; follows(j); ++j) {
      const std::string& link = words_[j].lower;
      const bool links = link == "of" || link == "de" || link == "von" || link == "van" || link == "&";
      if (named(j) && !is_a(WordKind::month, link) && !is_a(WordKind::weekday, link)) {
        end = j + 1;
      } else if (!links) {
        break;
      }
    }
    const EntityKind kind = kind_of(i, end);
    // A capital letter at the beginning of a sentence says nothing.
    if (words_[i].begins_sentence && end == i + 1 && kind == EntityKind::name) return 0;
    return add(kind, i, end - i);
  }

  EntityKind kind_of(std::size_t first, std::size_t end) const {
    const auto any = [&](auto test) {
      for (std::size_t i = first; i < end; ++i)
        if (test(i)) return true;
      return false;
    };
    if (is_a(WordKind::place, joined(first, end - first)) && (end > first + 1 || meant(first)))
      return EntityKind::place;
    const auto acronym = [&](std::size_t i) {
      const std::string& text = words_[i].text;
      return text.size() > 1 && std::ranges::all_of(text, [](char c) { return is_capital(c) || c == '&'; });
    };
    if (any([&](std::size_t i) {
          return (is_a(WordKind::company_ending, words_[i].lower) && i > first) ||
                 (is_a(WordKind::institution, words_[i].lower) && end > first + 1) ||
                 (is_a(WordKind::organisation, words_[i].lower) && meant(i));
        }) ||
        (end == first + 1 && acronym(first)))
      return EntityKind::organisation;
    if (is_a(WordKind::title, words_[first].lower) && end > first + 1) return EntityKind::person;
    if (is_a(WordKind::given_name, words_[first].lower) && (meant(first) || end > first + 1))
      return EntityKind::person;
    if (any([&](std::size_t i) { return is_a(WordKind::place, words_[i].lower) && meant(i); }))
      return EntityKind::place;
    return EntityKind::name;
  }

  // What the lists know in lower case.
  std::size_t listed(std::size_t i) {
    for (std::size_t count = kLongestPlace; count >= 1; --count) {
      bool whole = i + count <= words_.size();
      for (std::size_t j = i + 1; whole && j < i + count; ++j) whole = words_[j].joined;
      if (!whole) continue;
      const std::string phrase = joined(i, count);
      if (count == 1 && !meant(i)) continue;
      if (is_a(WordKind::organisation, phrase)) return add(EntityKind::organisation, i, count);
      if (is_a(WordKind::place, phrase)) return add(EntityKind::place, i, count);
    }
    const bool company = follows(i + 1) && is_a(WordKind::company_ending, words_[i + 1].lower) &&
                         words_[i + 1].lower != "company" && words_[i + 1].lower != "group" &&
                         words_[i + 1].lower != "limited";
    if (company && !is_a(WordKind::function_word, words_[i].lower))
      return add(EntityKind::organisation, i, 2);
    if (is_a(WordKind::given_name, words_[i].lower) && meant(i)) return add(EntityKind::person, i, 1);
    return 0;
  }

  std::vector<Word> words_;
  std::vector<Entity> found_;
};

// Words whatever surrounds them, for entities that are given.
std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  for (const Word& word : words_of(text)) words.push_back(word.lower);
  return words;
}

}  // namespace

const char* name_of(EntityKind kind) {
  switch (kind) {
    case EntityKind::person:
      return "person";
    case EntityKind::organisation:
      return "organisation";
    case EntityKind::place:
      return "place";
    case EntityKind::name:
      return "name";
    case EntityKind::date:
      return "date";
    case EntityKind::number:
      return "number";
    case EntityKind::email:
      return "email";
    case EntityKind::phone:
      return "phone";
  }
  return "";
}

bool names_something(EntityKind kind) {
  return kind == EntityKind::person || kind == EntityKind::organisation || kind == EntityKind::place ||
         kind == EntityKind::name;
}

std::vector<Entity> find_entities(std::string_view text) {
  return Finder(text).find();
}

EntityFinder::EntityFinder(std::span<const std::string> listed) : by_rules_(false) {
  for (const std::string& entity : listed)
    if (std::vector<std::string> words = plain_words(entity); !words.empty())
      listed_.push_back(std::move(words));
}

std::vector<Entity> EntityFinder::find(std::string_view text) const {
  if (by_rules_) return find_entities(text);
  const std::vector<std::string> words = plain_words(text);
  std::vector<Entity> found;
  for (const std::vector<std::string>& entity : listed_)
    if (std::search(words.begin(), words.end(), entity.begin(), entity.end()) != words.end())
      found.push_back({EntityKind::name, fmt::format("{}", fmt::join(entity, " "))});
  return found;
}

}  // namespace undertext
