#include "audit/experiment/toml_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;  // bytes; an experiment is written by hand
constexpr std::size_t kLongestShown = 40;

TomlNode converted(const toml::node& node, const std::string& source) {
  TomlNode made;
  made.place = fmt::format("{}:{}", source, node.source().begin.line);
  if (const auto* table = node.as_table()) {
    TomlNode::Table members;
    for (const auto& [key, member] : *table) members.emplace(key.str(), converted(member, source));
    made.value = std::move(members);
  } else if (const auto* array = node.as_array()) {
    TomlNode::Array items;
    for (const toml::node& item : *array) items.push_back(converted(item, source));
    made.value = std::move(items);
  } else if (const auto* truth = node.as_boolean()) {
    made.value = truth->get();
  } else if (const auto* whole = node.as_integer()) {
    made.value = whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    made.value = number->get();
  } else if (const auto* text = node.as_string()) {
    made.value = text->get();
  } else {
    fail("{}: a date or a time, expected a number, a text, true or false", made.place);
  }
  return made;
}

std::string shown_whole(const TomlNode& node) {
  struct Shower {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return quote(text); }
    std::string operator()(const TomlNode::Array& items) const {
      std::vector<std::string> parts;
      for (const TomlNode& item : items) parts.push_back(shown_whole(item));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    std::string operator()(const TomlNode::Table&) const { return "a table"; }
  };
  return std::visit(Shower{}, node.value);
}

}  // namespace

const TomlNode* TomlNode::find(const std::string& key) const {
  const Table* members = table();
  if (members == nullptr) return nullptr;
  const auto found = members->find(key);
  return found == members->end() ? nullptr : &found->second;
}

std::string TomlNode::shown() const {
  std::string text = shown_whole(*this);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown - 3) + "...";
  return text;
}

TomlNode parse_toml(std::string_view text, const std::string& source) {
  try {
    return converted(toml::parse(text), source);
  } catch (const toml::parse_error& error) {
    fail("{}:{}: not TOML: {}", source, error.source().begin.line, error.description());
  }
}

TomlNode read_toml(const std::filesystem::path& file) {
  return parse_toml(read_file(file, kLargestFile), file.string());
}

TomlNode overlaid(TomlNode below, const TomlNode& above) {
  auto* under = std::get_if<TomlNode::Table>(&below.value);
  const TomlNode::Table* over = above.table();
  if (under == nullptr || over == nullptr) return above;
  for (const auto& [key, member] : *over) {
    const auto found = under->find(key);
    if (found == under->end())
      under->emplace(key, member);
    else
      found->second = overlaid(std::move(found->second), member);
  }
  return below;
}

}  // namespace undertext
