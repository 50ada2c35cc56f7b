// Texts as transformers are trained on them: one stream of tokens, cut into pieces of one length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// The sentences joined in their order and cut into sequences of exactly `length` tokens, without padding;
// what is left over is dropped (decepticons, appendix A). UserError that begins with `where` when there is
// not one.
std::vector<Sentence> cut_into_sequences(std::span<const Sentence> sentences, std::int64_t length,
                                         const std::string& where);

// The first `count` of them; UserError that names how many there are when they are fewer.
std::vector<Sentence> first_sequences(std::span<const Sentence> sentences, std::int64_t length,
                                      std::int64_t count, const std::string& where);

}  // namespace undertext
