// Which keys an experiment file may hold, and what they may be.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace undertext {

enum class FieldType { truth, whole, number, text };

// The values of another field, of the same section ("kind") or of one that is no list ("federation.rounds"),
// under which this one means something.
using Condition = std::pair<std::string, std::vector<std::string>>;

inline constexpr const char* kPositive = "above 0";  // of a condition: every number that is

struct Field {
  std::string name;  // in the file
  FieldType type = FieldType::text;
  nlohmann::json fallback;                                         // the value where the file is silent
  std::string meaning;                                             // one line, for people
  double low = 0, high = std::numeric_limits<double>::infinity();  // of numbers
  std::vector<std::string> choices =
      {};  // of texts: the only ones, if any; a number may be one of them instead
  std::vector<Condition> belongs = {};
  std::string cell_name = {};  // in a cell, where it differs: "seed" for "seeds"

  const std::string& in_cell() const { return cell_name.empty() ? name : cell_name; }
};

struct Section {
  std::string name;
  bool list = false;  // [[name]]: each table is one more choice
  std::vector<Field> fields;
};

// In the order in which cells and reports name them.
const std::vector<Section>& sections();

// All values of a cell by their full names in that order: "federation.epochs", "run.size".
std::vector<std::string> value_names();

// The one of `names` that is written most like `given`; empty when there is none.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

}  // namespace undertext
