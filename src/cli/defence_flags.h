// What a client does about leaks, as a flag of the verbs in which it trains.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "defences/defence_plan.h"

namespace undertext {

class DefenceFlags {
 public:
  // --defence NAME:key=value,..., as often as there are defences.
  void add_flags(CLI::App& app);
  // UserError where a name is none or a number is out of range.
  DefencePlan plan() const { return DefencePlan::parse(texts_); }
  // As people write them; nothing: an empty list.
  nlohmann::json json() const;

 private:
  std::vector<std::string> texts_;
};

}  // namespace undertext
