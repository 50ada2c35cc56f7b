#include "cli/text_filter_flags.h"

#include <cmath>

#include "base/error.h"

namespace undertext {

void TextFilterFlags::add_flags(CLI::App& app) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const CLI::Range any(std::int64_t{0}, kMost), some(std::int64_t{1}, kMost);
  app.add_flag("--split", filter_.split, "split each line into sentences first, and leave out headings");
  app.add_option("--min-words", filter_.min_words, "leave out texts of fewer words")
      ->check(some)
      ->option_text("N");
  app.add_option("--max-words", filter_.max_words, "leave out texts of more words")
      ->check(some)
      ->option_text("N");
  app.add_option("--max-tokens", filter_.max_tokens, "leave out texts of more tokens")
      ->check(some)
      ->option_text("N");
  app.add_option("--max-unknown", filter_.max_unknown, "leave out texts with more unknown words")
      ->check(any)
      ->option_text("N");
  app.add_option("--min-entities", filter_.min_entities,
                 "leave out texts with fewer named entities, as the built-in rules see them")
      ->check(some)
      ->option_text("N");
  app.add_option("--max-perplexity", max_perplexity_,
                 "leave out texts with a higher perplexity under the model, as it is before training")
      ->check(CLI::Range(1.0, 1e30))
      ->option_text("P");
}

std::vector<Sentence> TextFilterFlags::expected_ones(std::vector<Sentence> texts, const LanguageModel& model,
                                                     const std::string& where) const {
  if (max_perplexity_ == 0) return texts;
  model.check(texts, where);
  const std::vector<double> losses = model.negative_log_likelihood(texts);
  std::vector<Sentence> kept;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto words = static_cast<double>(model.predicted(std::span(texts).subspan(i, 1)));
    if (words > 0 && std::exp(losses[i] / words) <= max_perplexity_) kept.push_back(std::move(texts[i]));
  }
  if (kept.empty()) fail("{}: no text has a perplexity of {} or less", where, max_perplexity_);
  return kept;
}

}  // namespace undertext
