#include "cli/client_users.h"

#include "base/error.h"
#include "text/sequences.h"

namespace undertext {

void ClientUsers::add_flags(CLI::App& app) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  texts_.add_flags(app,
                   {"--texts", "--ids", "the client's messages (several files: one user each)", true, true});
  CLI::Option* length =
      app.add_option("--length", length_,
                     "cut the messages, joined in their order, into sequences of S tokens, without padding")
          ->check(CLI::Range(std::int64_t{1}, kMost))
          ->option_text("S");
  app.add_option("--sequences", sequences_, "take the first B sequences of each user (all)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("B")
      ->needs(length);
  app.add_option("--users", users_, "deal one file's sequences to U users, whose gradients are averaged (1)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("U")
      ->needs(length);
  app.add_flag("--append-end", append_end_, "end each message with the tokenizer's end token");
  filter_.add_flags(app);
}

std::vector<std::vector<Sentence>> ClientUsers::read(const Tokenizer& tokenizer,
                                                     const LanguageModel& model) const {
  std::vector<std::vector<Sentence>> files = texts_.read_each(tokenizer, filter_.filter());
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i] = filter_.expected_ones(std::move(files[i]), model, texts_.files()[i].string());
    if (append_end_) append_end(files[i], tokenizer);
  }
  if (users_ > 1 && files.size() > 1)
    fail("--users {} and {} files: expected one file, or no --users, since each file is a user", users_,
         files.size());
  if (length_ == 0) return files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string where = texts_.files()[i].string();
    files[i] = sequences_ == 0 ? cut_into_sequences(files[i], length_, where)
                               : first_sequences(files[i], length_, sequences_ * users_, where);
  }
  if (users_ == 1) return files;
  const std::vector<Sentence>& sequences = files.front();
  const std::size_t users = static_cast<std::size_t>(users_), each = sequences.size() / users;
  if (each == 0)
    fail("{}: {} sequences of {} tokens, expected one for each of {} users", texts_.files()[0].string(),
         sequences.size(), length_, users_);
  std::vector<std::vector<Sentence>> dealt(users);
  for (std::size_t i = 0; i < each * users; ++i) dealt[i / each].push_back(sequences[i]);
  return dealt;
}

}  // namespace undertext
