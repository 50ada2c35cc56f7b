#include "models/char_lstm/step_rows.h"

#include <algorithm>

#include "base/error.h"

namespace undertext {

StepRows::StepRows(std::span<const Sentence> sentences, std::span<const std::size_t> chosen,
                   std::size_t first, std::size_t most)
    : sentence(chosen.begin(), chosen.end()) {
  for (const std::size_t s : chosen) {
    UNDERTEXT_CHECK(sentences[s].size() >= first + 2);
    length_.push_back(static_cast<std::int64_t>(std::min(sentences[s].size() - 1 - first, most)));
    UNDERTEXT_CHECK(length_.back() <= length_.front());
  }
  std::size_t reading = chosen.size();
  for (std::size_t step = 0; reading > 0; ++step) {
    for (std::size_t place = 0; place < reading; ++place) {
      const Sentence& text = sentences[chosen[place]];
      token.push_back(text[first + step]);
      target.push_back(text[first + step + 1]);
    }
    begin.push_back(static_cast<std::int64_t>(token.size()));
    while (reading > 0 && length_[reading - 1] == static_cast<std::int64_t>(step) + 1) --reading;
  }
}

}  // namespace undertext
