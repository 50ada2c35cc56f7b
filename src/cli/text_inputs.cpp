#include "cli/text_inputs.h"

#include <utility>

#include "base/error.h"
#include "text/corpus.h"

namespace undertext {

void TextInputs::add_flags(CLI::App& app, TextFlags flags) {
  flags_ = std::move(flags);
  CLI::Option* texts =
      app.add_option(flags_.texts, texts_, flags_.purpose + ", one a line")->option_text("FILE");
  app.add_option(flags_.ids, ids_,
                 fmt::format("the same as token ids, instead of {}: one JSON list a line", flags_.texts))
      ->option_text("FILE")
      ->excludes(texts);
  if (flags_.required) {
    app.callback([this] {
      if (!given()) throw CLI::RequiredError(fmt::format("{} or {}", flags_.texts, flags_.ids));
    });
  }
}

std::vector<Sentence> TextInputs::read(const Tokenizer& tokenizer) const {
  if (!texts_.empty()) return read_sentences(texts_, tokenizer);
  if (!ids_.empty()) return read_ids(ids_, tokenizer.size());
  return {};
}

}  // namespace undertext
