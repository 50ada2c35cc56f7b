#include "attacks/decepticons/place_rows.h"

#include "attacks/decepticons/correlation.h"
#include "base/assignment.h"
#include "base/threads.h"

namespace undertext {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Matrix<float> gathered(const Matrix<float>& rows, const std::vector<std::int64_t>& which) {
  Matrix<float> out(static_cast<std::int64_t>(which.size()), rows.cols);
  for (std::int64_t i = 0; i < out.rows; ++i) std::copy_n(rows.row(which[at(i)]), rows.cols, out.row(i));
  return out;
}

// One sequence: members' rows to slots.
void place_sequence(const Matrix<float>& rows, const std::vector<std::int64_t>& members,
                    const Matrix<float>& places, Slot* slots) {
  if (members.empty()) return;
  const Matrix<float> fit = correlations(gathered(rows, members), places);
  std::vector<std::int64_t> free(at(places.rows));
  for (std::int64_t p = 0; p < places.rows; ++p) free[at(p)] = p;
  for (bool repeated = false; !free.empty(); repeated = true) {
    std::vector<double> costs;
    costs.reserve(members.size() * free.size());
    for (std::int64_t i = 0; i < fit.rows; ++i)
      for (const std::int64_t p : free) costs.push_back(-fit(i, p));
    const auto open = static_cast<std::int64_t>(free.size());
    const std::vector<std::int64_t> place = solve_assignment(costs, fit.rows, open);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (place[i] >= 0) slots[free[at(place[i])]] = {members[i], repeated};
    std::erase_if(free, [&](std::int64_t p) { return slots[p].row >= 0; });
  }
}

}  // namespace

std::vector<Slot> place_rows(const Matrix<float>& rows, const std::vector<std::int64_t>& cluster,
                             std::int64_t sequences, const Matrix<float>& places) {
  std::vector<std::vector<std::int64_t>> members(at(sequences));
  for (std::int64_t i = 0; i < rows.rows; ++i) members[at(cluster[at(i)])].push_back(i);
  std::vector<Slot> slots(at(sequences * places.rows));
  parallel_for(sequences, [&](std::int64_t s) {
    place_sequence(rows, members[at(s)], places, slots.data() + s * places.rows);
  });
  return slots;
}

}  // namespace undertext
