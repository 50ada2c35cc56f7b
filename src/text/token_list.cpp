#include "text/token_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::size_t kTokenLimit = 4000;          // bytes of one token as files write it
constexpr std::int64_t kTokensLimit = 16'777'216;  // tokens

bool token_fault(std::string_view token) {
  return token.empty() || token.size() > kTokenLimit || find_invalid_utf8(token);
}

}  // namespace

std::vector<std::string> token_lines(std::string_view content, const std::string& source) {
  if (content.empty()) fail("{}: the file is empty; expected one word a line", source);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    lines.emplace_back(content.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void check_token(std::string_view token, const std::string& source, std::string_view what) {
  if (token.empty()) fail("{}: {} is empty", source, what);
  if (token.size() > kTokenLimit)
    fail("{}: {} {} has {} bytes, expected {} at most", source, what, quote(token), token.size(),
         kTokenLimit);
  if (find_invalid_utf8(token))
    fail("{}: {} {} is not UTF-8", source, what, quote(replace_invalid_utf8(token)));
}

TokenIndex check_tokens(const std::vector<std::string>& tokens, const std::string& source) {
  if (tokens.size() > static_cast<std::size_t>(kTokensLimit))
    fail("{}: {} tokens, expected {} at most", source, tokens.size(), kTokensLimit);
  TokenIndex index(tokens.size());
  for (Token id = 0; id < static_cast<Token>(tokens.size()); ++id) {
    const std::string& token = tokens[static_cast<std::size_t>(id)];
    if (token_fault(token)) check_token(token, source, fmt::format("token {}", id));
    const Token first = index.insert(tokens, id);
    if (first != id) fail("{}: tokens {} and {} are both {}", source, first, id, quote(token));
  }
  return index;
}

std::vector<AddedToken> checked_added(std::vector<AddedToken> added, const std::vector<std::string>& tokens,
                                      const std::string& source) {
  std::set<std::string_view> seen;
  for (const AddedToken& token : added) {
    check_token(token.content, source, "an added token");
    const bool in_range = token.id >= 0 && static_cast<std::size_t>(token.id) < tokens.size();
    if (!in_range || tokens[static_cast<std::size_t>(token.id)] != token.content)
      fail("{}: token {} is not the added token {}", source, token.id, quote(token.content));
    if (!seen.insert(token.content).second)
      fail("{}: the added token {} is there twice", source, quote(token.content));
  }
  return added;
}

std::vector<std::string> tokens_by_id(const nlohmann::json& vocabulary, const std::vector<AddedToken>& added,
                                      const std::string& source) {
  if (!vocabulary.is_object()) fail("{}: the vocabulary is no object of tokens and ids", source);
  const std::size_t most = vocabulary.size() + added.size();
  if (most > static_cast<std::size_t>(kTokensLimit))
    fail("{}: {} tokens, expected {} at most", source, most, kTokensLimit);
  std::vector<const std::string*> by_id(most, nullptr);
  std::size_t count = 0;
  const auto place = [&](const std::string& token, std::uint64_t id) {
    if (id >= most)
      fail("{}: {} has the id {}, expected ids from 0 on without a gap", source, quote(token), id);
    if (by_id[id] == nullptr) ++count;
    if (by_id[id] != nullptr && *by_id[id] != token)
      fail("{}: {} and {} have the same id {}", source, quote(*by_id[id]), quote(token), id);
    by_id[id] = &token;
  };
  for (auto entry = vocabulary.begin(); entry != vocabulary.end(); ++entry) {
    if (!entry->is_number_unsigned())
      fail("{}: the id of {} is no whole number of at least 0", source, quote(entry.key()));
    place(entry.key(), entry->get<std::uint64_t>());
  }
  for (const AddedToken& token : added) place(token.content, static_cast<std::uint64_t>(token.id));
  std::vector<std::string> tokens;
  tokens.reserve(count);
  for (std::size_t id = 0; id < count; ++id) {
    if (by_id[id] == nullptr) fail("{}: no token has the id {}, expected ids without a gap", source, id);
    tokens.push_back(*by_id[id]);
  }
  return tokens;
}

nlohmann::json json_of(const AddedTokens& added) {
  nlohmann::json list = nlohmann::json::array();
  for (const AddedToken& token : added.list()) {
    list.push_back({{"id", token.id},
                    {"content", token.content},
                    {"single_word", false},
                    {"lstrip", token.strip_left},
                    {"rstrip", token.strip_right},
                    {"normalized", false},
                    {"special", token.special}});
  }
  return list;
}

}  // namespace undertext
