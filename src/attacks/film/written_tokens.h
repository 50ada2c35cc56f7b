// What the published search takes for the beginning and the end of a sentence: tokens, by how they are
// written.
#pragma once

#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// Tokens that begin with a capital letter, after white space or at once; ascending. In texts without capital
// letters there is none of the bag among them, and the search begins anywhere.
std::vector<Token> tokens_that_begin_sentences(const Tokenizer& tokenizer);

// Tokens that hold . ? or !, those within a number or an abbreviation too, as published; ascending.
std::vector<Token> tokens_that_end_sentences(const Tokenizer& tokenizer);

}  // namespace undertext
