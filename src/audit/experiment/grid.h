// From the lists and ranges of an experiment file to every combination of their values.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "audit/experiment/schema.h"
#include "audit/experiment/toml_tree.h"

namespace undertext {

inline constexpr std::size_t kMostCells = 1'000'000;

// All values that the node gives the field: itself, each of a list, or each of a range
// {from, to, steps, scale = "log"}. UserError that names the place for a wrong type or a value out of range.
// name: the full one, for messages.
std::vector<nlohmann::json> values_of(const Field& field, const TomlNode& node, const std::string& name);

// The combinations of one table's values, fields that mean nothing in a combination left out. UserError where
// a key that is given means nothing in any of them.
std::vector<nlohmann::json> combinations(const Section& section, const TomlNode& table);

// Every cell of a whole file: section -> value -> number, text or truth value.
std::vector<nlohmann::json> grid_of(const TomlNode& file);

}  // namespace undertext
