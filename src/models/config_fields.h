// The fields of a config.json, each checked as it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace undertext {

class ConfigFields {
 public:
  explicit ConfigFields(const std::filesystem::path& file);
  ConfigFields(nlohmann::json fields, std::string where);

  // A size that fits an int in every product.
  static constexpr std::int64_t kLargest = std::int64_t{1} << 24;

  // Whether the field is there and not null.
  bool has(const std::string& key) const;
  // lowest <= value < limit. UserError when it is anything else, or missing and without a fallback.
  std::int64_t whole(const std::string& key, std::int64_t lowest, std::int64_t limit,
                     std::optional<std::int64_t> fallback = {}) const;
  std::int64_t size(const std::string& key, std::optional<std::int64_t> fallback = {}) const {
    return whole(key, 1, kLargest, fallback);
  }
  double number(const std::string& key, double lowest, double highest, double fallback) const;
  bool truth(const std::string& key, bool fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  nlohmann::json value(const std::string& key, const nlohmann::json& fallback) const;

  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

 private:
  nlohmann::json fields_;
  std::string where_;  // what the errors name
};

}  // namespace undertext
