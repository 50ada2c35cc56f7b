#include "audit/experiment/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string expected(const Field& field) {
  if (field.type == FieldType::truth) return "true or false";
  if (field.type == FieldType::text) {
    if (field.choices.empty()) return "a text";
    return fmt::format("one of \"{}\"", fmt::join(field.choices, "\", \""));
  }
  std::string text = field.type == FieldType::whole ? "a whole number" : "a number";
  text += std::isinf(field.high) ? fmt::format(" of at least {}", field.low)
                                 : fmt::format(" from {} to {}", field.low, field.high);
  for (const std::string& choice : field.choices) text += fmt::format(" or \"{}\"", choice);
  return text;
}

[[noreturn]] void wrong(const Field& field, const TomlNode& node, const std::string& name) {
  std::string hint;
  if (const std::string* text = node.text(); text != nullptr && !field.choices.empty())
    hint = fmt::format("; did you mean \"{}\"?", nearest_name(*text, field.choices));
  fail("{}: {} is {}, expected {}{}", node.place, name, node.shown(), expected(field), hint);
}

json number_of(const Field& field, double value) {
  if (field.type == FieldType::whole) return static_cast<std::int64_t>(value);
  return value;
}

bool fits(const Field& field, double value) {
  return std::isfinite(value) && value >= field.low && value <= field.high &&
         (field.type != FieldType::whole || value == std::floor(value));
}

json scalar_of(const Field& field, const TomlNode& node, const std::string& name) {
  const std::string* text = node.text();
  if (text != nullptr && std::ranges::find(field.choices, *text) != field.choices.end()) return *text;
  if (field.type == FieldType::text && text != nullptr && field.choices.empty()) return *text;
  if (field.type == FieldType::truth && std::holds_alternative<bool>(node.value))
    return std::get<bool>(node.value);
  if (field.type == FieldType::whole || field.type == FieldType::number) {
    double value = std::nan("");
    if (const auto* whole = std::get_if<std::int64_t>(&node.value)) value = static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&node.value);
        number != nullptr && field.type == FieldType::number)
      value = *number;
    if (fits(field, value)) return number_of(field, value);
  }
  wrong(field, node, name);
}

double range_end(const TomlNode& range, const std::string& key, const Field& field, const std::string& name) {
  const TomlNode* node = range.find(key);
  if (node == nullptr)
    fail("{}: {}: this range has no {}, expected {{from, to, steps}}", range.place, name, key);
  const json value = scalar_of(field, *node, name + "." + key);
  if (!value.is_number()) wrong(field, *node, name + "." + key);
  return value.get<double>();
}

// {from, to, steps, scale = "linear" or "log"}: steps values, both ends among them.
std::vector<json> range_of(const Field& field, const TomlNode& node, const std::string& name) {
  const std::vector<std::string> keys = {"from", "to", "steps", "scale"};
  for (const auto& [key, member] : *node.table())
    if (std::ranges::find(keys, key) == keys.end())
      fail("{}: {}.{}: unknown key; the nearest valid key is {}.{}", member.place, name, key, name,
           nearest_name(key, keys));
  if (field.type != FieldType::whole && field.type != FieldType::number)
    fail("{}: {} is a range, expected {}", node.place, name, expected(field));
  const double from = range_end(node, "from", field, name), to = range_end(node, "to", field, name);
  const Field steps_field{"steps", FieldType::whole, 2, "", 2, kMostCells};
  const auto steps = static_cast<int>(range_end(node, "steps", steps_field, name));
  bool log = false;
  if (const TomlNode* scale = node.find("scale")) {
    const Field scale_field{"scale", FieldType::text, "linear", "", 0, 0, {"linear", "log"}};
    log = scalar_of(scale_field, *scale, name + ".scale") == "log";
  }
  if (log && !(from > 0 && to > 0))
    fail("{}: {} runs from {} to {} on a log scale, expected two numbers above 0", node.place, name, from,
         to);
  std::vector<json> values;
  for (int i = 0; i < steps; ++i) {
    const double share = static_cast<double>(i) / (steps - 1);
    double value = log ? from * std::pow(to / from, share) : from + (to - from) * share;
    if (i == steps - 1) value = to;
    // What rounding leaves (0.030000000000000002) would be another cell than 0.03.
    value = field.type == FieldType::whole ? std::round(value) : std::stod(fmt::format("{:.12g}", value));
    json made = number_of(field, value);
    if (values.empty() || values.back() != made) values.push_back(std::move(made));
  }
  return values;
}

bool holds(const Condition& condition, const json& value) {
  const std::vector<std::string>& values = condition.second;
  if (value.is_number()) return value > 0 && std::ranges::find(values, kPositive) != values.end();
  return value.is_string() && std::ranges::find(values, value.get<std::string>()) != values.end();
}

bool of_another_section(const Condition& condition) {
  return condition.first.find('.') != std::string::npos;
}

// By the values of its own section.
bool meant(const Field& field, const json& combination) {
  return std::ranges::all_of(field.belongs, [&](const Condition& condition) {
    return of_another_section(condition) || holds(condition, combination.value(condition.first, json()));
  });
}

// By the values of other ones.
bool meant_in_cell(const Field& field, const json& cell) {
  return std::ranges::all_of(field.belongs, [&](const Condition& condition) {
    const std::size_t dot = condition.first.find('.');
    return !of_another_section(condition) ||
           holds(condition,
                 cell.at(condition.first.substr(0, dot)).value(condition.first.substr(dot + 1), json()));
  });
}

[[noreturn]] void meaningless(const Section& section, const Field& field, const TomlNode& node) {
  std::vector<std::string> conditions;
  for (const auto& [name, values] : field.belongs)
    conditions.push_back(values.front() == kPositive
                             ? fmt::format("{} {}", name, kPositive)
                             : fmt::format("{} = \"{}\"", name, fmt::join(values, "\" or \"")));
  fail("{}: {}.{} means nothing here, expected it with {}", node.place, section.name, field.name,
       fmt::join(conditions, " and "));
}

// Each of `left` with each of `values` under `name`.
std::vector<json> multiplied(const std::vector<json>& left, const std::string& name,
                             const std::vector<json>& values, const std::string& place) {
  if (left.size() > kMostCells / values.size()) fail("{}: more than {} combinations", place, kMostCells);
  std::vector<json> all;
  all.reserve(left.size() * values.size());
  for (const json& one : left) {
    for (const json& value : values) {
      all.push_back(one);
      all.back()[name] = value;
    }
  }
  return all;
}

std::vector<json> without_repeats(std::vector<json> all) {
  std::set<json> seen;
  std::erase_if(all, [&](const json& one) { return !seen.insert(one).second; });
  return all;
}

// The choices of a section: of its table, or of each of its tables.
std::vector<json> choices_of(const Section& section, const TomlNode& file) {
  const TomlNode* node = file.find(section.name);
  if (node == nullptr) return combinations(section, {});
  if (!section.list) return combinations(section, *node);
  std::vector<json> all;
  for (const TomlNode& table : *node->array())
    for (json& one : combinations(section, table)) all.push_back(std::move(one));
  return without_repeats(std::move(all));
}

}  // namespace

std::vector<json> values_of(const Field& field, const TomlNode& node, const std::string& name) {
  if (node.table() != nullptr) return range_of(field, node, name);
  const TomlNode::Array* items = node.array();
  if (items == nullptr) return {scalar_of(field, node, name)};
  if (items->empty()) fail("{}: {} is an empty list, expected at least one value", node.place, name);
  std::vector<json> values;
  for (const TomlNode& item : *items)
    for (json& value : item.table() != nullptr ? range_of(field, item, name)
                                               : std::vector<json>{scalar_of(field, item, name)})
      values.push_back(std::move(value));
  return without_repeats(std::move(values));
}

std::vector<json> combinations(const Section& section, const TomlNode& table) {
  std::vector<json> all = {json::object()};
  for (const Field& field : section.fields) {
    const std::string name = section.name + "." + field.name;
    const TomlNode* node = table.find(field.name);
    const std::vector<json> values = node ? values_of(field, *node, name) : std::vector<json>{field.fallback};
    all = multiplied(all, field.in_cell(), values, node ? node->place : table.place);
  }
  for (const Field& field : section.fields) {
    bool used = false;
    for (json& one : all) {
      const bool means = meant(field, one);
      used = used || means;
      if (!means) one.erase(field.in_cell());
    }
    if (const TomlNode* node = table.find(field.name); node != nullptr && !used)
      meaningless(section, field, *node);
  }
  return without_repeats(std::move(all));
}

std::vector<json> grid_of(const TomlNode& file) {
  std::vector<json> cells = {json::object()};
  for (const Section& section : sections())
    cells = multiplied(cells, section.name, choices_of(section, file), file.place);
  bool erased = false;
  for (const Section& section : sections()) {
    const TomlNode* table = section.list ? nullptr : file.find(section.name);
    for (const Field& field : section.fields) {
      if (std::ranges::none_of(field.belongs, of_another_section)) continue;
      bool used = false;
      for (json& cell : cells) {
        const bool means = meant_in_cell(field, cell);
        used = used || means;
        if (!means) erased = cell[section.name].erase(field.in_cell()) > 0 || erased;
      }
      if (const TomlNode* node = table != nullptr ? table->find(field.name) : nullptr;
          node != nullptr && !used)
        meaningless(section, field, *node);
    }
  }
  return erased ? without_repeats(std::move(cells)) : cells;
}

}  // namespace undertext
