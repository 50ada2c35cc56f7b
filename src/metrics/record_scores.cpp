#include "metrics/record_scores.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "metrics/edit_distance.h"
#include "text/utf8.h"

namespace undertext {
namespace {

std::vector<Token> characters(std::string_view text) {
  std::vector<Token> result;
  for (std::size_t i = 0; i < text.size();) {
    const auto character = decode_utf8(text, i);
    result.push_back(character ? static_cast<Token>(character->value) : -1);
    i += character ? character->bytes : 1;
  }
  return result;
}

}  // namespace

std::int64_t character_distance(std::string_view a, std::string_view b) {
  return levenshtein(characters(a), characters(b));
}

RecordScores score_records(std::span<const VictimGuess> guesses) {
  RecordScores scores;
  scores.victims = std::ssize(guesses);
  if (guesses.empty()) return scores;
  std::int64_t named = 0, right = 0;
  for (const VictimGuess& guess : guesses) {
    std::int64_t nearest = character_distance(guess.truth, "");
    bool found = false;
    std::size_t seen = 0;
    for (std::size_t k = 0; k < RecordScores::kTops.size(); ++k) {
      const auto top = static_cast<std::size_t>(RecordScores::kTops[k]);
      for (; seen < std::min(top, guess.ranked.size()); ++seen) {
        const std::int64_t distance = character_distance(guess.truth, guess.ranked[seen]);
        nearest = seen == 0 ? distance : std::min(nearest, distance);
        found = found || guess.ranked[seen] == guess.truth;
      }
      scores.accuracy[k] += found ? 1 : 0;
      scores.distance[k] += static_cast<double>(nearest);
    }
    named += guess.owner_right ? 1 : 0;
    right += guess.owner_right.value_or(false) ? 1 : 0;
  }
  for (double& share : scores.accuracy) share /= static_cast<double>(guesses.size());
  for (double& distance : scores.distance) distance /= static_cast<double>(guesses.size());
  if (named > 0) scores.owners = static_cast<double>(right) / static_cast<double>(named);
  return scores;
}

void to_json(nlohmann::json& json, const RecordScores& scores) {
  json = nlohmann::json::object();
  for (std::size_t k = 0; k < RecordScores::kTops.size(); ++k) {
    json["top_" + std::to_string(RecordScores::kTops[k])] = scores.accuracy[k];
    json["distance_" + std::to_string(RecordScores::kTops[k])] = scores.distance[k];
  }
  if (scores.owners) json["owners"] = *scores.owners;
  json["victims"] = scores.victims;
}

}  // namespace undertext
