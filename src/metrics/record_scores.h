// How many private records were recovered, with their owners (record-level, section V-B).
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// What an attack says of one client.
struct VictimGuess {
  std::string truth;                // the client's record
  std::vector<std::string> ranked;  // candidates for it, best first
  // The client that the attack names for the true record: whether it is the right one. Nothing where the
  // record is no candidate, or the attack names nobody.
  std::optional<bool> owner_right = {};
};

struct RecordScores {
  static constexpr std::array<std::int64_t, 5> kTops = {1, 5, 10, 20, 50};
  // The share of victims whose record is among the first K candidates for that victim: text and owner.
  std::array<double, kTops.size()> accuracy = {};
  // The fewest edits (characters) from one of the first K candidates to the record, mean over the victims. A
  // victim without a candidate counts with all characters of its record.
  std::array<double, kTops.size()> distance = {};
  std::optional<double> owners;  // the share of right owners, of the records that are candidates
  std::int64_t victims = 0;
};

RecordScores score_records(std::span<const VictimGuess> guesses);

// Fewest characters to insert, delete or replace.
std::int64_t character_distance(std::string_view a, std::string_view b);

// top_1, ..., distance_1, ..., owners, victims.
void to_json(nlohmann::json& json, const RecordScores& scores);

}  // namespace undertext
