#include "federated/selection.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

constexpr std::size_t kLargestSchedule = std::size_t{64} << 20;  // bytes

Random random_of(Seed seed, const char* what, std::int64_t round) {
  return Random(seed.derive(what).derive(static_cast<std::uint64_t>(round)));
}

// The place among the left ones where their sizes, added up, pass `at`.
std::size_t place_of(std::uint64_t at, const std::vector<std::int64_t>& left,
                     std::span<const std::int64_t> sizes) {
  std::size_t place = 0;
  for (; place + 1 < left.size(); ++place) {
    const auto size = static_cast<std::uint64_t>(sizes[static_cast<std::size_t>(left[place])]);
    if (at < size) break;
    at -= size;
  }
  return place;
}

// So many rounds take everybody in turn; the last of them may be short.
std::vector<std::int64_t> next_in_turn(std::int64_t clients, std::int64_t per_round, std::int64_t round) {
  const std::int64_t rounds = (clients + per_round - 1) / per_round;
  const std::int64_t first = (round - 1) % rounds * per_round;
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(std::min(per_round, clients - first)));
  std::iota(chosen.begin(), chosen.end(), first);
  return chosen;
}

}  // namespace

const char* name_of(SelectionRule rule) {
  switch (rule) {
    case SelectionRule::uniform:
      return "uniform";
    case SelectionRule::by_size:
      return "by-size";
    case SelectionRule::poisson:
      return "poisson";
    case SelectionRule::in_turn:
      return "in-turn";
    case SelectionRule::scheduled:
      return "a schedule";
  }
  UNDERTEXT_CHECK(false);
  return "";
}

void check_selection(const Selection& selection, std::int64_t clients, std::int64_t rounds) {
  if (!(selection.drop_out >= 0 && selection.drop_out <= 1))
    fail("drop-out: {} given, expected a chance from 0 to 1", selection.drop_out);
  if (selection.rule != SelectionRule::scheduled) {
    if (selection.per_round < 1 || selection.per_round > clients)
      fail("{} clients a round, expected 1 to {}, as many as there are", selection.per_round, clients);
    return;
  }
  if (std::ssize(selection.schedule) < rounds)
    fail("the schedule has {} rounds, expected {}", selection.schedule.size(), rounds);
  for (std::size_t round = 0; round < selection.schedule.size(); ++round) {
    std::set<std::int64_t> seen;
    for (const std::int64_t client : selection.schedule[round]) {
      if (client < 0 || client >= clients)
        fail("the schedule's round {} names client {}, expected 0 to {}", round + 1, client, clients - 1);
      if (!seen.insert(client).second)
        fail("the schedule's round {} names client {} twice", round + 1, client);
    }
  }
}

std::vector<std::int64_t> select_clients(const Selection& selection, std::span<const std::int64_t> sizes,
                                         std::int64_t round, Seed seed) {
  UNDERTEXT_CHECK(round >= 1);
  std::vector<std::int64_t> chosen;
  if (selection.rule == SelectionRule::scheduled) {
    chosen = selection.schedule.at(static_cast<std::size_t>(round - 1));
    std::ranges::sort(chosen);
    return chosen;
  }
  const std::int64_t clients = std::ssize(sizes);
  if (selection.rule == SelectionRule::in_turn) return next_in_turn(clients, selection.per_round, round);
  Random random = random_of(seed, "selection", round);
  if (selection.rule == SelectionRule::poisson) {
    const double chance = static_cast<double>(selection.per_round) / static_cast<double>(clients);
    for (std::int64_t client = 0; client < clients; ++client)
      if (random.uniform() < chance) chosen.push_back(client);
    return chosen;
  }
  std::vector<std::int64_t> left(sizes.size());
  std::iota(left.begin(), left.end(), 0);
  while (std::ssize(chosen) < selection.per_round) {
    std::uint64_t all = 0;
    for (const std::int64_t client : left)
      all += static_cast<std::uint64_t>(sizes[static_cast<std::size_t>(client)]);
    const std::size_t place = selection.rule == SelectionRule::uniform || all == 0
                                  ? static_cast<std::size_t>(random.below(left.size()))
                                  : place_of(random.below(all), left, sizes);
    chosen.push_back(left[place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::int64_t> answering(std::span<const std::int64_t> selected, const Selection& selection,
                                    std::int64_t round, Seed seed) {
  Random random = random_of(seed, "drop-out", round);
  std::vector<std::int64_t> answer;
  for (const std::int64_t client : selected)
    if (random.uniform() >= selection.drop_out) answer.push_back(client);
  return answer;
}

Schedule parse_schedule(std::string_view text, const std::string& source) {
  const nlohmann::json lists = nlohmann::json::parse(text, nullptr, false);
  if (!lists.is_array() || lists.empty())
    fail("{}: expected a JSON list with one list of clients a round, as [[0, 1], [2, 3]]", source);
  Schedule schedule;
  for (const nlohmann::json& list : lists) {
    if (!list.is_array()) fail("{}: round {} is no list of clients", source, schedule.size() + 1);
    schedule.emplace_back();
    for (const nlohmann::json& client : list) {
      if (!client.is_number_unsigned() || client.get<std::uint64_t>() > 1'000'000)
        fail("{}: round {} holds {:.40}, expected clients counted from 0", source, schedule.size(),
             client.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      schedule.back().push_back(client.get<std::int64_t>());
    }
  }
  return schedule;
}

Schedule read_schedule(const std::filesystem::path& file) {
  return parse_schedule(read_file(file, kLargestSchedule), file.string());
}

}  // namespace undertext
