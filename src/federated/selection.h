// Which clients a round's server asks, and which of them answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace undertext {

enum class SelectionRule {
  uniform,    // every set of so many clients is as likely as any other
  by_size,    // one after the other, each by its share of the data of those that are left
  scheduled,  // as a list says
  poisson,    // each on its own, with the chance that gives so many on average: perhaps nobody
  in_turn,    // the next ones in the order of their numbers: everybody once before anybody again
};

// [round - 1]: the clients of that round.
using Schedule = std::vector<std::vector<std::int64_t>>;

struct Selection {
  SelectionRule rule = SelectionRule::uniform;
  std::int64_t per_round = 1;  // M, on average where each is drawn on its own; a schedule says so itself
  Schedule schedule = {};
  double drop_out = 0;  // chance that a client that was asked does not answer
};

const char* name_of(SelectionRule rule);

// UserError when more clients are asked than there are, or a schedule is too short for so many rounds, names
// a client that is not there, or one twice in a round.
void check_selection(const Selection& selection, std::int64_t clients, std::int64_t rounds);

// The clients of a round (counted from 1) in rising order: a function of the seed and the round, whatever was
// drawn before. sizes: of each client's data.
std::vector<std::int64_t> select_clients(const Selection& selection, std::span<const std::int64_t> sizes,
                                         std::int64_t round, Seed seed);
// Those of them that answer.
std::vector<std::int64_t> answering(std::span<const std::int64_t> selected, const Selection& selection,
                                    std::int64_t round, Seed seed);

// A JSON list of lists of clients, counted from 0. UserError that begins with `source`.
Schedule parse_schedule(std::string_view json, const std::string& source);
Schedule read_schedule(const std::filesystem::path& file);

}  // namespace undertext
