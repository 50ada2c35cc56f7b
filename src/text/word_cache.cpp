#include "text/word_cache.h"

#include <algorithm>

namespace undertext {

void WordCache::keep(std::string_view word, std::span<const Token> tokens) {
  Slot& slot = slots_[index(word)];
  if (word.empty() || word.size() > slot.word.size() || tokens.size() > slot.tokens.size()) return;
  slot.bytes = static_cast<std::uint8_t>(word.size());
  slot.count = static_cast<std::uint8_t>(tokens.size());
  std::copy(word.begin(), word.end(), slot.word.begin());
  std::copy(tokens.begin(), tokens.end(), slot.tokens.begin());
}

std::unique_ptr<WordCache> WordCaches::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<WordCache> cache = std::move(idle_.back());
      idle_.pop_back();
      return cache;
    }
  }
  return std::make_unique<WordCache>();
}

void WordCaches::give_back(std::unique_ptr<WordCache> cache) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(cache));
}

}  // namespace undertext
