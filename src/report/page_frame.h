// What the pages of the report share: one self-contained file around a body, its scripts and its data.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace undertext {

inline constexpr std::size_t kLargestPage = 1'500'000;  // bytes
inline constexpr std::size_t kLongestText = 2000;       // bytes of one text shown

// The text, cut at a character when it is longer than anyone would read.
std::string shortened(const std::string& text, std::size_t longest = kLongestText);

// Each distinct text once: the same truth stands in many rows. The data refers to it by its index.
class SharedTexts {
 public:
  explicit SharedTexts(std::size_t longest = kLongestText) : longest_(longest) {}
  nlohmann::json index(const std::optional<std::string>& text);  // null for no text
  const nlohmann::json& list() const { return list_; }

 private:
  std::size_t longest_;
  std::unordered_map<std::string, std::size_t> indices_;
  nlohmann::json list_ = nlohmann::json::array();
};

// JSON that cannot end the script element it stands in, nor start a comment or another script there.
// Everything but ASCII is escaped too (U+2028 among it), and bytes that are not UTF-8 become U+FFFD.
std::string script_safe(const nlohmann::json& data);

// title, body and scripts are our own; `data` gives script_safe JSON, within the bytes that it may take for
// the page to stay within kLargestPage.
std::string framed_page(std::string_view title, std::string_view body, std::string_view scripts,
                        const std::function<std::string(std::size_t)>& data);

}  // namespace undertext
