#include "attacks/decepticons/key.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/config_fields.h"

namespace undertext {
namespace {

constexpr const char* kFormat = "undertext-decepticon-key-1";
constexpr double kLargestScale = 1e30;

std::uint64_t seed_field(const nlohmann::json& field, const ConfigFields& fields) {
  if (field.is_number_unsigned()) return field.get<std::uint64_t>();
  fields.refuse("seed", "a whole number from 0");
}

}  // namespace

const char* name_of(DecepticonDesign design) {
  return design == DecepticonDesign::paper ? "paper" : "best";
}

void save_key(const DecepticonKey& key, const std::filesystem::path& file) {
  nlohmann::ordered_json out;
  out["format"] = kFormat;
  out["design"] = name_of(key.design);
  out["code"] = key.code;
  out["positions"] = key.positions;
  out["window"] = key.window;
  out["scale"] = key.scale;
  out["disguise"] = key.disguise;
  out["seed"] = key.seed;
  out["state_hash"] = key.state_hash;
  write_file(file, out.dump(2) + "\n");
}

DecepticonKey load_key(const std::filesystem::path& file) {
  constexpr std::size_t kLargestFile = 1 << 16;
  return parse_key(read_file(file, kLargestFile), file.string());
}

DecepticonKey parse_key(std::string_view content, const std::string& source) {
  const ConfigFields fields(nlohmann::json::parse(content, nullptr, false), source);
  if (fields.text("format", "") != kFormat) fields.refuse("format", kFormat);
  DecepticonKey key;
  const std::string design = fields.text("design", "");
  if (design == name_of(DecepticonDesign::paper))
    key.design = DecepticonDesign::paper;
  else if (design == name_of(DecepticonDesign::best))
    key.design = DecepticonDesign::best;
  else
    fields.refuse("design", "paper or best");
  key.code = fields.size("code");
  key.positions = fields.whole("positions", 0, ConfigFields::kLargest);
  key.window = fields.whole("window", 0, ConfigFields::kLargest);
  for (const char* name : {"scale", "disguise"})
    if (!fields.has(name)) fields.refuse(name, "a number");
  key.scale = fields.number("scale", std::numeric_limits<double>::min(), kLargestScale, 1);
  key.disguise = fields.number("disguise", 0, kLargestScale, 0);
  key.seed = seed_field(fields.value("seed", nullptr), fields);
  key.state_hash = fields.text("state_hash", "");
  if (key.state_hash.size() != 64 ||
      key.state_hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    fields.refuse("state_hash", "64 hexadecimal digits");
  return key;
}

std::filesystem::path key_file_of(const std::filesystem::path& folder) {
  std::filesystem::path file = (folder / "").parent_path();  // without a slash at the end
  file += ".key.json";
  return file;
}

}  // namespace undertext
