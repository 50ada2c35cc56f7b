// Sentences for the tests from plain text: every distinct word gets the next id.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

inline Sentence words(const std::string& text) {
  static std::map<std::string, Token> ids;
  Sentence sentence;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    sentence.push_back(ids.emplace(word, static_cast<Token>(ids.size())).first->second);
  }
  return sentence;
}

inline std::vector<Sentence> sentences(const std::vector<std::string>& texts) {
  std::vector<Sentence> list;
  for (const std::string& text : texts) list.push_back(words(text));
  return list;
}

}  // namespace undertext
