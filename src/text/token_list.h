// What the files of all tokenizers have in common: a list of tokens, some of them added.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/token_index.h"

namespace undertext {

// One token a line; the last line may lack its line feed. UserError when there is none.
std::vector<std::string> token_lines(std::string_view content, const std::string& source);

// UserError that names the token unless it is UTF-8, not empty and not too long. what: "the token".
void check_token(std::string_view token, const std::string& source, std::string_view what);

// All of them, and that none is there twice. Returns which id each has.
TokenIndex check_tokens(const std::vector<std::string>& tokens, const std::string& source);

// UserError unless each added token is the token of its id, and none is there twice.
std::vector<AddedToken> checked_added(std::vector<AddedToken> added, const std::vector<std::string>& tokens,
                                      const std::string& source);

// By id, from {"token": id, ...} and what else is added: every id from 0 on once. UserError otherwise.
std::vector<std::string> tokens_by_id(const nlohmann::json& vocabulary, const std::vector<AddedToken>& added,
                                      const std::string& source);

// As tokenizer.json writes them.
nlohmann::json json_of(const AddedTokens& added);

}  // namespace undertext
