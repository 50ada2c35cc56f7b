#include "text/restricted_tokenizer.h"

#include "base/error.h"
#include "text/byte_pair_tokenizer.h"
#include "text/word_piece_tokenizer.h"

namespace undertext {
namespace {

// Both number their tokens in the same order.
std::vector<Token> old_ids(const Tokenizer& old, const Tokenizer& restricted) {
  std::vector<Token> kept;
  for (Token id = 0; id < old.size() && static_cast<std::int64_t>(kept.size()) < restricted.size(); ++id) {
    if (old.token(id) == restricted.token(static_cast<Token>(kept.size()))) kept.push_back(id);
  }
  UNDERTEXT_CHECK(static_cast<std::int64_t>(kept.size()) == restricted.size());
  return kept;
}

}  // namespace

RestrictedTokenizer restrict_to(const Tokenizer& tokenizer, std::span<const std::string> texts) {
  const auto* pairs = dynamic_cast<const BytePairTokenizer*>(&tokenizer);
  const auto* pieces = dynamic_cast<const WordPieceTokenizer*>(&tokenizer);
  if (!pairs && !pieces)
    fail("this tokenizer cannot be restricted: it is neither byte-level BPE nor WordPiece");
  std::vector<bool> keep(static_cast<std::size_t>(tokenizer.size()), false);
  for (const std::string& text : texts) {
    for (const Token id : tokenizer.encode(text)) keep[static_cast<std::size_t>(id)] = true;
  }
  RestrictedTokenizer result;
  if (pairs) {
    result.tokenizer = pairs->restricted(keep);
  } else {
    result.tokenizer = pieces->restricted(keep);
  }
  result.kept = old_ids(tokenizer, *result.tokenizer);
  return result;
}

}  // namespace undertext
