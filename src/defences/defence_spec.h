// One defence with its settings, as people write it: "dpsgd:clip=1,sigma=0.5".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "defences/defence_kind.h"

namespace undertext {

struct DefenceSpec {
  std::string kind;
  nlohmann::json values = nlohmann::json::object();  // every parameter of the kind

  double number(const char* parameter) const { return values.at(parameter).get<double>(); }
  std::string text(const char* parameter) const { return values.at(parameter).get<std::string>(); }
  // How strong it is, by the parameter that its kind names; NaN where it is on or off.
  double strength() const;
  bool operator==(const DefenceSpec&) const = default;
};

// What is not said has its standard value. UserError for a kind or parameter that there is none of, a value
// out of range, or one that is given twice.
DefenceSpec parse_defence(std::string_view text);

// From an object with "kind" and its parameters, as a cell of an experiment holds it; others are passed over.
DefenceSpec defence_from(const nlohmann::json& object);

// As parse_defence() reads it, without what has its standard value, except for the strength.
std::string text_of(const DefenceSpec& spec);

}  // namespace undertext
