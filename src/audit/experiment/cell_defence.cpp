#include "audit/experiment/cell_defence.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace undertext {

DefencePlan plan_of(const nlohmann::json& defence) {
  std::vector<DefenceSpec> specs;
  if (defence.at("kind") != "none") specs.push_back(defence_from(defence));
  std::istringstream others(defence.value("with", ""));
  for (std::string text; others >> text;) specs.push_back(parse_defence(text));
  return DefencePlan(std::move(specs));
}

}  // namespace undertext
