#include "report/value_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace undertext {
namespace {

using nlohmann::json;

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c == '_' ? ' ' : c;
  }
  std::erase(parts, "");
  if (parts.size() > 1 && (parts.back() == "name" || parts.back() == "kind")) parts.pop_back();
  return parts;
}

// The last `count` parts, as one phrase.
std::string tail(const std::vector<std::string>& parts, std::size_t count) {
  count = std::min(count, parts.size());
  return fmt::format("{}", fmt::join(parts.end() - static_cast<std::ptrdiff_t>(count), parts.end(), " "));
}

}  // namespace

std::vector<std::string> value_labels(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> parts;
  parts.reserve(names.size());
  std::size_t longest = 1;
  for (const std::string& name : names) {
    parts.push_back(parts_of(name));
    longest = std::max(longest, parts.back().size());
  }
  std::vector<std::string> labels;
  labels.reserve(names.size());
  for (const auto& own : parts) labels.push_back(tail(own, 1));
  for (std::size_t count = 2; count <= longest; ++count) {
    std::map<std::string, int> taken;
    for (const std::string& label : labels) ++taken[label];
    for (std::size_t i = 0; i < names.size(); ++i)
      if (taken[labels[i]] > 1) labels[i] = tail(parts[i], count);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (labels[i].empty()) labels[i] = names[i];
  return labels;
}

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "–";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string value_key(const json& value) {
  if (value.is_string()) return "text " + value.get<std::string>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    // Below 2^53 a whole number is the same number as a float.
    if (number == std::floor(number) && std::abs(number) < 9007199254740992.0)
      return std::to_string(static_cast<std::int64_t>(number));
    return fmt::format("{}", number);
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json& cell_value(const ReportedCell& cell, std::size_t axis) {
  static const json nothing;
  return axis < cell.values.size() ? cell.values[axis] : nothing;
}

}  // namespace undertext
