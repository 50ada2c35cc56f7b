#include "base/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::int64_t kFree = -1;

// Solves rows <= columns. Keeps the invariants of linear programming duality: every reduced cost
// cost(i, j) - row_price[i] - column_price[j] is >= 0, it is 0 for assigned pairs, and the price of a column
// that stays free is 0. When every row is assigned, they prove the assignment optimal.
class Solver {
 public:
  Solver(const double* costs, std::size_t rows, std::size_t columns)
      : costs_(costs),
        rows_(rows),
        columns_(columns),
        row_price_(rows),
        column_price_(columns, 0.0),
        column_of_(rows, kFree),
        row_of_(columns, kFree),
        distance_(columns),
        before_(columns) {}

  std::vector<std::int64_t> solve() {
    // In a square no column stays free, so any prices may start: what every row must pay is best.
    if (rows_ == columns_) {
      std::copy_n(costs_, columns_, column_price_.begin());
      for (std::size_t i = 1; i < rows_; ++i) {
        const double* row = costs_ + i * columns_;
        for (std::size_t j = 0; j < columns_; ++j) column_price_[j] = std::min(column_price_[j], row[j]);
      }
    }
    // Each row asks for its cheapest column; whoever comes first gets it. The rest augment.
    for (std::size_t i = 0; i < rows_; ++i) {
      const double* row = costs_ + i * columns_;
      std::size_t cheapest = 0;
      for (std::size_t j = 1; j < columns_; ++j) {
        if (row[j] - column_price_[j] < row[cheapest] - column_price_[cheapest]) cheapest = j;
      }
      row_price_[i] = row[cheapest] - column_price_[cheapest];
      if (row_of_[cheapest] == kFree) assign(i, cheapest);
    }
    for (std::size_t i = 0; i < rows_; ++i) {
      if (column_of_[i] == kFree) augment(i);
    }
    return std::move(column_of_);
  }

 private:
  void assign(std::size_t row, std::size_t column) {
    column_of_[row] = static_cast<std::int64_t>(column);
    row_of_[column] = static_cast<std::int64_t>(row);
  }

  // Dijkstra over the reduced costs from a free row to the nearest free column, then flips the path.
  void augment(std::size_t start) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::infinity());
    open_.resize(columns_);
    std::iota(open_.begin(), open_.end(), std::size_t{0});
    closed_.clear();

    std::size_t row = start, column = 0;
    double length = 0;  // of the shortest path to `row`
    while (true) {
      const double* costs = costs_ + row * columns_;
      const double offset = length - row_price_[row];
      double nearest = std::numeric_limits<double>::infinity();
      std::size_t place = 0;  // of the nearest column in open_
      for (std::size_t k = 0; k < open_.size(); ++k) {
        const std::size_t j = open_[k];
        const double through = offset + costs[j] - column_price_[j];
        if (through < distance_[j]) {
          distance_[j] = through;
          before_[j] = row;
        }
        // Among equals a free column ends the search at once.
        if (distance_[j] < nearest || (distance_[j] == nearest && row_of_[j] == kFree)) {
          nearest = distance_[j];
          place = k;
        }
      }
      length = nearest;
      column = open_[place];
      open_[place] = open_.back();
      open_.pop_back();
      if (row_of_[column] == kFree) break;
      closed_.push_back(column);
      row = static_cast<std::size_t>(row_of_[column]);
    }

    row_price_[start] += length;
    for (const std::size_t j : closed_) {
      row_price_[static_cast<std::size_t>(row_of_[j])] += length - distance_[j];
      column_price_[j] -= length - distance_[j];
    }
    while (true) {
      const std::size_t i = before_[column];
      const std::int64_t previous = column_of_[i];
      assign(i, column);
      if (i == start) break;
      column = static_cast<std::size_t>(previous);
    }
  }

  const double* costs_;
  std::size_t rows_, columns_;
  std::vector<double> row_price_, column_price_;
  std::vector<std::int64_t> column_of_, row_of_;
  std::vector<double> distance_;            // of each column from the start row
  std::vector<std::size_t> before_;         // the row before each column on its shortest path
  std::vector<std::size_t> open_, closed_;  // columns whose distance is not yet, or already, final
};

}  // namespace

std::vector<std::int64_t> solve_assignment(std::span<const double> costs, std::int64_t rows,
                                           std::int64_t columns) {
  UNDERTEXT_CHECK(rows >= 0 && columns >= 0);
  const auto n = static_cast<std::size_t>(rows), m = static_cast<std::size_t>(columns);
  UNDERTEXT_CHECK(costs.size() == n * m);
  UNDERTEXT_CHECK(std::all_of(costs.begin(), costs.end(), [](double cost) { return std::isfinite(cost); }));
  if (n == 0 || m == 0) return std::vector<std::int64_t>(n, kFree);
  if (n <= m) return Solver(costs.data(), n, m).solve();

  std::vector<double> transposed(n * m);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) transposed[j * n + i] = costs[i * m + j];
  }
  const std::vector<std::int64_t> row_of = Solver(transposed.data(), m, n).solve();
  std::vector<std::int64_t> column_of(n, kFree);
  for (std::size_t j = 0; j < m; ++j) {
    column_of[static_cast<std::size_t>(row_of[j])] = static_cast<std::int64_t>(j);
  }
  return column_of;
}

}  // namespace undertext
