// A hash table of numbers that is filled once and then only asked, without a pointer to follow: the merges of
// byte pairs and the edges of tries are looked up for every few bytes of text.
#pragma once

#include <cstdint>
#include <vector>

namespace undertext {

class FlatTable {
 public:
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;  // no value may be this

  FlatTable() : slots_(16) {}

  std::uint32_t find(std::uint64_t key) const {
    for (std::size_t i = mix(key) & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].value == kNothing || slots_[i].key == key) return slots_[i].value;
    }
  }

  // False, and nothing changed, when the key is there already.
  bool insert(std::uint64_t key, std::uint32_t value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    return put(key, value);
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = kNothing;
  };

  static std::size_t mix(std::uint64_t key) {
    key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15;
    return key ^ (key >> 29);
  }

  bool put(std::uint64_t key, std::uint32_t value) {
    std::size_t i = mix(key) & (slots_.size() - 1);
    for (; slots_[i].value != kNothing; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].key == key) return false;
    slots_[i] = {key, value};
    ++count_;
    return true;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (const Slot& slot : old)
      if (slot.value != kNothing) put(slot.key, slot.value);
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::size_t count_ = 0;
};

}  // namespace undertext
