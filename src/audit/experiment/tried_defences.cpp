#include "audit/experiment/tried_defences.h"

#include <algorithm>

#include "audit/defence_strengths.h"
#include "audit/trials.h"
#include "base/error.h"

namespace undertext {
namespace {

TomlNode node_of(const nlohmann::json& value, const std::string& place) {
  TomlNode node;
  node.place = place;
  if (value.is_string())
    node.value = value.get<std::string>();
  else if (value.is_number_integer())
    node.value = value.get<std::int64_t>();
  else
    node.value = value.get<double>();
  return node;
}

// The first of the plan's defences with its parameters, the others beside it.
TomlNode table_of(const DefencePlan& plan, const std::string& place) {
  TomlNode::Table table;
  if (plan.none()) {
    table["kind"] = node_of("none", place);
    return {table, place};
  }
  const DefenceSpec& first = plan.specs().front();
  table["kind"] = node_of(first.kind, place);
  for (const auto& [name, value] : first.values.items()) table[name] = node_of(value, place);
  std::string others;
  for (std::size_t i = 1; i < plan.specs().size(); ++i)
    others += (i == 1 ? "" : " ") + text_of(plan.specs()[i]);
  if (!others.empty()) table["with"] = node_of(others, place);
  return {table, place};
}

std::vector<std::string> specs_of(const TomlNode& given) {
  if (given.text() != nullptr && *given.text() == "all") return {"all"};
  std::vector<std::string> specs;
  if (given.array() != nullptr)
    for (const TomlNode& item : *given.array())
      if (item.text() != nullptr) specs.push_back(*item.text());
  if (given.array() == nullptr || specs.size() != given.array()->size() || specs.empty())
    fail("{}: defences.try is {}, expected \"all\" or a list such as [\"dpsgd:sigma=0.5,clip=1\"]",
         given.place, given.shown());
  return specs;
}

std::string preset_of(const TomlNode& section) {
  const TomlNode* of = section.find("of");
  if (of == nullptr) return "keyboard";
  const std::vector<std::string> presets = {"keyboard", "transformer", "records"};
  if (of->text() == nullptr || std::ranges::find(presets, *of->text()) == presets.end())
    fail("{}: defences.of is {}, expected keyboard, transformer or records", of->place, of->shown());
  return *of->text();
}

}  // namespace

TomlNode with_tried_defences(TomlNode tree) {
  const TomlNode* section = tree.find("defences");
  if (section == nullptr) return tree;
  const std::string place = section->place;
  if (section->table() == nullptr) fail("{}: defences is {}, expected a table", place, section->shown());
  for (const auto& [key, member] : *section->table())
    if (key != "try" && key != "of")
      fail("{}: defences.{}: unknown key, expected try and of", member.place, key);
  const TomlNode* given = section->find("try");
  if (given == nullptr) fail("{}: defences.try is missing, expected \"all\" or a list of defences", place);
  if (tree.find("defence") != nullptr) fail("{}: [defences] beside [[defence]], expected one of them", place);
  TomlNode::Array tables = {table_of({}, place)};
  try {
    for (const DefencePlan& plan : chosen_defences(specs_of(*given), all_defences(preset_of(*section))))
      tables.push_back(table_of(plan, given->place));
  } catch (const UserError& error) {
    if (std::string(error.what()).starts_with(given->place)) throw;
    fail("{}: defences.try: {}", given->place, error.what());
  }
  auto& root = std::get<TomlNode::Table>(tree.value);
  root.erase("defences");
  root["defence"] = {tables, place};
  return tree;
}

}  // namespace undertext
