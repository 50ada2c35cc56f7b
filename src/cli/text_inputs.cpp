#include "cli/text_inputs.h"

#include <utility>

#include "base/error.h"
#include "text/corpus.h"

namespace undertext {

void TextInputs::add_flags(CLI::App& app, TextFlags flags) {
  flags_ = std::move(flags);
  const int most = flags_.several ? CLI::detail::expected_max_vector_size : 1;
  const char* const files = flags_.several ? "FILE..." : "FILE";
  CLI::Option* texts = app.add_option(flags_.texts, texts_, flags_.purpose + ", one a line")
                           ->expected(1, most)
                           ->option_text(files);
  app.add_option(flags_.ids, ids_,
                 fmt::format("the same as token ids, instead of {}: one JSON list a line", flags_.texts))
      ->expected(1, most)
      ->option_text(files)
      ->excludes(texts);
  if (flags_.required) {
    app.callback([this] {
      if (!given()) throw CLI::RequiredError(fmt::format("{} or {}", flags_.texts, flags_.ids));
    });
  }
}

std::vector<std::vector<Sentence>> TextInputs::read_each(const Tokenizer& tokenizer,
                                                         const TextFilter& filter) const {
  std::vector<std::vector<Sentence>> read;
  for (const std::filesystem::path& file : texts_) read.push_back(read_sentences(file, tokenizer, filter));
  for (const std::filesystem::path& file : ids_) {
    read.push_back(read_ids(file, tokenizer.size()));
    if (!filter.any()) continue;
    std::erase_if(read.back(), [&](const Sentence& sentence) {
      return !filter.keeps(sentence, tokenizer) || !filter.keeps(tokenizer.decode(sentence));
    });
    if (read.back().empty()) fail("{}: the filter leaves no text", file.string());
  }
  return read;
}

std::vector<Sentence> TextInputs::read(const Tokenizer& tokenizer, const TextFilter& filter) const {
  std::vector<Sentence> all;
  for (std::vector<Sentence>& sentences : read_each(tokenizer, filter))
    all.insert(all.end(), std::make_move_iterator(sentences.begin()),
               std::make_move_iterator(sentences.end()));
  return all;
}

void append_end(std::vector<Sentence>& texts, const Tokenizer& tokenizer) {
  const std::optional<Token> end = tokenizer.special().end;
  if (!end) fail("--append-end: the tokenizer has no token that ends a text");
  for (Sentence& text : texts) text.push_back(*end);
}

}  // namespace undertext
