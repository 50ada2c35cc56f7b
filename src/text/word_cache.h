// The tokens of words seen before. A few thousand words make up most of any text.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// 1 MB whatever the texts: a word has one slot and takes it from the word that was there. Long words and
// words of many tokens are not kept.
class WordCache {
 public:
  WordCache() : slots_(kSlots) {}

  // Appends the word's tokens, if it is there.
  bool append(std::string_view word, Sentence& tokens) const {
    const Slot& slot = slots_[index(word)];
    if (word.size() != slot.bytes || word != std::string_view(slot.word.data(), slot.bytes)) return false;
    tokens.insert(tokens.end(), slot.tokens.data(), slot.tokens.data() + slot.count);
    return true;
  }

  void keep(std::string_view word, std::span<const Token> tokens);

 private:
  static constexpr std::size_t kSlots = 1 << 14;
  struct alignas(64) Slot {  // one cache line
    std::uint8_t bytes = 0, count = 0;
    std::array<char, 30> word;
    std::array<Token, 8> tokens;
  };

  static std::size_t index(std::string_view word) {
    return std::hash<std::string_view>{}(word) & (kSlots - 1);
  }

  std::vector<Slot> slots_;
};

// One cache for each thread that encodes at the time. What a cache holds never changes a result.
class WordCaches {
 public:
  class Lease {
   public:
    explicit Lease(WordCaches& caches) : caches_(caches), cache_(caches.take()) {}
    ~Lease() { caches_.give_back(std::move(cache_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    WordCache* operator->() { return cache_.get(); }

   private:
    WordCaches& caches_;
    std::unique_ptr<WordCache> cache_;
  };

 private:
  std::unique_ptr<WordCache> take();
  void give_back(std::unique_ptr<WordCache> cache);

  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> idle_;
};

}  // namespace undertext
