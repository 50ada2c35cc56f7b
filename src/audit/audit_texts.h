// Who writes what in an audit: the clients' messages and those on which the utility is measured.
#pragma once

#include <filesystem>
#include <vector>

#include "audit/public_model.h"
#include "text/tokenizer.h"

namespace undertext {

struct AuditTexts {
  std::vector<std::vector<Sentence>> clients;
  std::vector<Sentence> held_out;  // no client's; may be empty
  std::vector<Sentence> others;    // nor these, of the federation that the clients belong to; may be empty
};

// The built-in messages: each client, the held-out ones and the others from a branch of the seed of their
// own.
AuditTexts generated_texts(const Tokenizer& tokenizer, const std::vector<std::int64_t>& sizes,
                           std::int64_t held_out, std::int64_t others, std::uint64_t seed);

// The user's, read from `file`: clients are consecutive slices, what follows them is held out, the rest is
// the others'. A size that does not fit is skipped, and `note` is told; where none fits there is one client
// with all messages.
AuditTexts shared_out(const std::vector<Sentence>& all, const std::filesystem::path& file,
                      const std::vector<std::int64_t>& sizes, std::int64_t held_out, const Note& note);

}  // namespace undertext
