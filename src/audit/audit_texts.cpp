#include "audit/audit_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/messages.h"

namespace undertext {
namespace {

std::vector<Sentence> encoded(const Tokenizer& tokenizer, Seed seed, std::int64_t count) {
  std::vector<Sentence> sentences;
  for (const std::string& message : generate_messages(seed, count))
    sentences.push_back(tokenizer.encode(message));
  return sentences;
}

}  // namespace

AuditTexts generated_texts(const Tokenizer& tokenizer, const std::vector<std::int64_t>& sizes,
                           std::int64_t held_out, std::int64_t others, std::uint64_t seed) {
  const Seed root = Seed(seed).derive("private");
  AuditTexts texts;
  for (const std::int64_t size : sizes)
    texts.clients.push_back(
        encoded(tokenizer, root.derive("client").derive(static_cast<std::uint64_t>(size)), size));
  texts.held_out = encoded(tokenizer, root.derive("held out"), held_out);
  texts.others = encoded(tokenizer, root.derive("others"), others);
  return texts;
}

AuditTexts shared_out(const std::vector<Sentence>& all, const std::filesystem::path& file,
                      const std::vector<std::int64_t>& sizes, std::int64_t held_out, const Note& note) {
  const auto total = static_cast<std::int64_t>(all.size());
  AuditTexts texts;
  auto next = all.begin();
  for (const std::int64_t size : sizes) {
    if (size > all.end() - next) {
      note(fmt::format("{}: {} messages are left of {}; a client of {} is skipped", file.string(),
                       all.end() - next, total, size));
      continue;
    }
    texts.clients.emplace_back(next, next + size);
    next += size;
  }
  if (texts.clients.empty()) {
    note(fmt::format("{}: one client holds all {} messages", file.string(), total));
    texts.clients.push_back(all);
    next = all.end();
  }
  const auto end = next + std::min<std::int64_t>(held_out, all.end() - next);
  texts.held_out.assign(next, end);
  texts.others.assign(end, all.end());
  if (texts.held_out.empty())
    note(fmt::format("{}: no message is left to measure the utility on", file.string()));
  return texts;
}

}  // namespace undertext
