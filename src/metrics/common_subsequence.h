// The longest common subsequence of two lists of anything that can be compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace undertext {

template <typename Item>
std::int64_t common_subsequence(std::span<const Item> first, std::span<const Item> second) {
  std::vector<std::int64_t> longest(second.size() + 1, 0);  // of `first` so far and a beginning of `second`
  for (const Item& item : first) {
    std::int64_t before = 0;
    for (std::size_t j = 0; j < second.size(); ++j) {
      const std::int64_t above = longest[j + 1];
      longest[j + 1] = item == second[j] ? before + 1 : std::max(above, longest[j]);
      before = above;
    }
  }
  return longest.back();
}

}  // namespace undertext
