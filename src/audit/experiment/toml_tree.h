// A TOML file as a tree in which every value knows where it stands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace undertext {

struct TomlNode {
  using Array = std::vector<TomlNode>;
  using Table = std::map<std::string, TomlNode>;

  std::variant<bool, std::int64_t, double, std::string, Array, Table> value = Table{};
  std::string place;  // "figure2a.toml:12", or "--set run.seeds=3"

  const Table* table() const { return std::get_if<Table>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  // The member of a table; nullptr where there is none, or where this is no table.
  const TomlNode* find(const std::string& key) const;
  // As it would stand in a file, shortened: for messages.
  std::string shown() const;
};

// UserError that names source and line for what is not TOML.
TomlNode parse_toml(std::string_view text, const std::string& source);
TomlNode read_toml(const std::filesystem::path& file);

// `below` with the values of `above` in place of its own: tables are joined, everything else is replaced.
TomlNode overlaid(TomlNode below, const TomlNode& above);

}  // namespace undertext
