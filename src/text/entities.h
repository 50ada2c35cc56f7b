// Named entities of a text: who, where, when and how much.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

enum class EntityKind { person, organisation, place, name, date, number, email, phone };
const char* name_of(EntityKind kind);
// PERSON, ORG, GPE, LOC, PRODUCT and EVENT of film's appendix B.1: what is no date, number or address.
bool names_something(EntityKind kind);

struct Entity {
  EntityKind kind = EntityKind::name;
  std::string text;  // lower case, words one space apart, without the punctuation around them
  friend bool operator==(const Entity&, const Entity&) = default;
};

// By rules and lists, for English. It is no statistical recogniser (film uses SpaCy's), and its scores
// compare with each other alone. What it sees:
//   e-mail      something@host.domain
//   phone       7 to 15 digits with separators, or an area code in brackets before them
//   date        weekdays; months, with a day and a year where they stand beside them; 3/14/2001; years
//   1900-2099 number      digits, with a currency before them and million, percent or % after them person,
//   organisation, place, name
//               runs of words with capital letters, by what the lists know of their words, else `name`; in
//               the beginning of a sentence only what a list knows or what a second such word follows; and in
//               any case: listed given names (alone), places, organisations, and the word before inc, corp,
//               ltd
// What it does not see: surnames and unlisted names in lower case, numbers in words, products and events as
// such (they are `name`), titles of works beyond their capital words. What means something else in lower case
// (may, mark, turkey) counts only with a capital letter.
std::vector<Entity> find_entities(std::string_view text);

// Either the rules, or a list that somebody made of the texts.
class EntityFinder {
 public:
  EntityFinder() = default;  // the rules
  // Each entity is found where its words stand in a text, whatever their case and the punctuation around
  // them. All are of kind name.
  explicit EntityFinder(std::span<const std::string> listed);

  std::vector<Entity> find(std::string_view text) const;

  bool finds_nothing() const { return !by_rules_ && listed_.empty(); }

 private:
  bool by_rules_ = true;
  std::vector<std::vector<std::string>> listed_;  // words of each entity
};

}  // namespace undertext
