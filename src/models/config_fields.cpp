#include "models/config_fields.h"

#include "base/error.h"
#include "base/files.h"

namespace undertext {

using nlohmann::json;

ConfigFields::ConfigFields(const std::filesystem::path& file)
    : ConfigFields(json::parse(read_file(file), nullptr, false), file.string()) {}

ConfigFields::ConfigFields(json fields, std::string where)
    : fields_(std::move(fields)), where_(std::move(where)) {
  if (fields_.is_discarded() || !fields_.is_object()) fail("{}: not a JSON object", where_);
}

bool ConfigFields::has(const std::string& key) const {
  const auto found = fields_.find(key);
  return found != fields_.end() && !found->is_null();
}

void ConfigFields::refuse(const std::string& key, const std::string& expected) const {
  if (!fields_.contains(key)) fail("{}: \"{}\" is missing, expected {}", where_, key, expected);
  fail("{}: \"{}\" is {:.80}, expected {}", where_, key,
       fields_.at(key).dump(-1, ' ', false, json::error_handler_t::replace), expected);
}

std::int64_t ConfigFields::whole(const std::string& key, std::int64_t lowest, std::int64_t limit,
                                 std::optional<std::int64_t> fallback) const {
  if (!has(key) && fallback) return *fallback;
  if (!fields_.contains(key)) fail("{}: \"{}\" is missing", where_, key);
  const json& field = fields_.at(key);
  // An unsigned number above the signed range compares wrongly as a signed one.
  const bool huge =
      field.is_number_unsigned() && field.get<std::uint64_t>() >= static_cast<std::uint64_t>(limit);
  const std::int64_t value = field.is_number_integer() && !huge ? field.get<std::int64_t>() : lowest - 1;
  if (value < lowest || value >= limit)
    refuse(key, fmt::format("a whole number from {} to {}", lowest, limit - 1));
  return value;
}

double ConfigFields::number(const std::string& key, double lowest, double highest, double fallback) const {
  if (!has(key)) return fallback;
  const json& field = fields_.at(key);
  const double value = field.is_number() ? field.get<double>() : lowest - 1;
  if (!(value >= lowest && value <= highest))
    refuse(key, fmt::format("a number from {} to {}", lowest, highest));
  return value;
}

bool ConfigFields::truth(const std::string& key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!fields_.at(key).is_boolean()) refuse(key, "true or false");
  return fields_.at(key).get<bool>();
}

std::string ConfigFields::text(const std::string& key, const std::string& fallback) const {
  if (!has(key)) return fallback;
  if (!fields_.at(key).is_string()) refuse(key, "a text");
  return fields_.at(key).get<std::string>();
}

json ConfigFields::value(const std::string& key, const json& fallback) const {
  return has(key) ? fields_.at(key) : fallback;
}

}  // namespace undertext
