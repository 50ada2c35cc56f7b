// Which texts are kept of a corpus (film, appendix B.1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// What is 0 asks for nothing. The paper's: fewer than 40 tokens, fewer than 5 unknown ones, at least one
// named entity.
struct TextFilter {
  std::int64_t min_words = 0, max_words = 0;  // between white space
  std::int64_t max_tokens = 0;                // of the tokenizer
  std::int64_t max_unknown = -1;  // words that the corpus or the tokenizer calls unknown; -1: any number
  std::int64_t min_entities = 0;  // persons, organisations, places and other names

  // Each line is split into sentences first, and headings ("= Title =") are left out: WikiText's lines are
  // paragraphs.
  bool split = false;

  bool any() const;
  // By the text alone: words, <unk> as WikiText writes it, entities.
  bool keeps(std::string_view text) const;
  // By what a tokenizer makes of it.
  bool keeps(const Sentence& sentence, const Tokenizer& tokenizer) const;
};

// A sentence ends after . ! or ? (with what closes brackets and quotes), where white space and then anything
// but a lower-case letter follow; not after a single capital letter or a usual abbreviation.
std::vector<std::string> split_sentences(std::string_view text);

// What is kept of the texts, split where the filter says so.
std::vector<std::string> filtered(std::vector<std::string> texts, const TextFilter& filter);

}  // namespace undertext
