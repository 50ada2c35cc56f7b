// Which id a token has, for a list of tokens that grows: 8 bytes a slot, and no copy of any string.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

class TokenIndex {
 public:
  static constexpr Token kNone = -1;

  explicit TokenIndex(std::size_t expected) {
    std::size_t slots = 16;
    while (slots < 2 * expected) slots *= 2;
    slots_.resize(slots);
  }

  // tokens: the list that all calls share. kNone when the token is not there.
  Token find(const std::vector<std::string>& tokens, std::string_view token) const {
    return slots_[slot_of(tokens, token)].id;
  }

  // Adds tokens[id], unless it is there: the id that it has.
  Token insert(const std::vector<std::string>& tokens, Token id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::string& token = tokens[static_cast<std::size_t>(id)];
    Slot& slot = slots_[slot_of(tokens, token)];
    if (slot.id != kNone) return slot.id;
    slot = {hash_of(token), id};
    ++count_;
    return id;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Token id = kNone;
  };

  static std::uint32_t hash_of(std::string_view token) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(token));
  }

  // Where the token is, or the empty slot that it would take.
  std::size_t slot_of(const std::vector<std::string>& tokens, std::string_view token) const {
    const std::uint32_t hash = hash_of(token);
    std::size_t i = hash & (slots_.size() - 1);
    for (; slots_[i].id != kNone; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].hash == hash && tokens[static_cast<std::size_t>(slots_[i].id)] == token) break;
    }
    return i;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id == kNone) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].id != kNone) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::size_t count_ = 0;
};

}  // namespace undertext
