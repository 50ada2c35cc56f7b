#include "defences/defence_spec.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const DefenceParameter& parameter, const std::string& kind,
                         const std::string& value) {
  if (!parameter.choices.empty())
    fail("{}: {} is {}, expected {}", kind, parameter.name, quote(value),
         fmt::join(parameter.choices, " or "));
  fail("{}: {} is {}, expected a {} from {} to {}", kind, parameter.name, quote(value),
       parameter.whole ? "whole number" : "number", parameter.low, parameter.high);
}

// shown: the value as it was written.
void check(const DefenceParameter& parameter, const std::string& kind, const json& value,
           const std::string& shown) {
  if (!parameter.choices.empty()) {
    if (!value.is_string() ||
        std::ranges::find(parameter.choices, value.get<std::string>()) == parameter.choices.end())
      refuse(parameter, kind, shown);
    return;
  }
  if (!value.is_number()) refuse(parameter, kind, shown);
  const double number = value.get<double>();
  if (!(number >= parameter.low && number <= parameter.high) ||
      (parameter.whole && number != std::floor(number)))
    refuse(parameter, kind, shown);
}

json value_of(const DefenceParameter& parameter, const std::string& kind, std::string_view text) {
  json value = std::string(text);
  if (parameter.choices.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) refuse(parameter, kind, std::string(text));
    value = number;
  }
  check(parameter, kind, value, std::string(text));
  if (parameter.whole) value = std::llround(value.get<double>());
  return value;
}

DefenceSpec standard_of(const DefenceKind& kind) {
  DefenceSpec spec{kind.name};
  for (const DefenceParameter* parameter : parameters_of(kind.name))
    spec.values[parameter->name] = parameter->standard;
  return spec;
}

const DefenceParameter& parameter_of(const std::string& kind, std::string_view name) {
  std::vector<std::string> names;
  for (const DefenceParameter* parameter : parameters_of(kind)) {
    if (parameter->name == name) return *parameter;
    names.push_back(parameter->name);
  }
  if (names.empty()) fail("{}: has nothing to set, not {}", kind, quote(name));
  fail("{}: there is no {}, expected {}", kind, quote(name), fmt::join(names, ", "));
}

std::string written(const json& value) {
  return value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<double>());
}

}  // namespace

double DefenceSpec::strength() const {
  const std::string& parameter = defence_kind(kind).strength;
  return parameter.empty() ? std::numeric_limits<double>::quiet_NaN() : values.at(parameter).get<double>();
}

DefenceSpec parse_defence(std::string_view text) {
  const std::size_t colon = text.find(':');
  const DefenceKind& kind = defence_kind(text.substr(0, colon));
  DefenceSpec spec = standard_of(kind);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) fail("{}: {} given, expected key=value", kind.name, quote(item));
    const std::string_view name = item.substr(0, equals);
    const DefenceParameter& parameter = parameter_of(kind.name, name);
    if (std::ranges::find(given, name) != given.end())
      fail("{}: {} is given twice, expected it once", kind.name, parameter.name);
    given.push_back(name);
    spec.values[parameter.name] = value_of(parameter, kind.name, item.substr(equals + 1));
  }
  return spec;
}

DefenceSpec defence_from(const json& object) {
  const std::string name = object.at("kind");
  DefenceSpec spec = standard_of(defence_kind(name));
  for (const DefenceParameter* parameter : parameters_of(name)) {
    const auto found = object.find(parameter->name);
    if (found == object.end() || found->is_null()) continue;
    check(*parameter, name, *found, found->is_string() ? found->get<std::string>() : found->dump());
    spec.values[parameter->name] = *found;
  }
  return spec;
}

std::string text_of(const DefenceSpec& spec) {
  const std::string& strength = defence_kind(spec.kind).strength;
  std::vector<std::string> said;
  for (const DefenceParameter* parameter : parameters_of(spec.kind)) {
    const json& value = spec.values.at(parameter->name);
    if (parameter->name == strength || value != parameter->standard)
      said.push_back(parameter->name + "=" + written(value));
  }
  return said.empty() ? spec.kind : fmt::format("{}:{}", spec.kind, fmt::join(said, ","));
}

}  // namespace undertext
