#include "base/transport.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace undertext {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kFree = -1;

class Solver {
 public:
  Solver(const Matrix<float>& costs, std::span<const std::int64_t> capacity)
      : costs_(costs),
        capacity_(capacity.begin(), capacity.end()),
        m_(costs.cols),
        column_of_(static_cast<std::size_t>(costs.rows), kFree),
        rows_of_(static_cast<std::size_t>(m_)),
        price_(static_cast<std::size_t>(m_), 0.0),
        exchange_(m_, m_, kInfinity),
        mover_(m_, m_, kFree),
        distance_(static_cast<std::size_t>(m_)),
        before_(static_cast<std::size_t>(m_)) {}

  std::vector<std::int64_t> solve() {
    // Each row asks for its cheapest column; those that a column has most to gain from come first.
    std::vector<std::int64_t> order(column_of_.size()), cheapest(column_of_.size());
    std::vector<double> regret(column_of_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = 0; i < costs_.rows; ++i) {
      const float* row = costs_.row(i);
      double first = kInfinity, second = kInfinity;
      for (std::int64_t j = 0; j < m_; ++j) {
        if (capacity_[at(j)] == 0) continue;
        if (row[j] < first) {
          second = first;
          first = row[j];
          cheapest[at(i)] = j;
        } else if (row[j] < second) {
          second = row[j];
        }
      }
      regret[at(i)] = second - first;
    }
    std::ranges::stable_sort(order,
                             [&](std::int64_t a, std::int64_t b) { return regret[at(a)] > regret[at(b)]; });
    std::vector<std::int64_t> left;
    for (const std::int64_t i : order) {
      const std::int64_t j = cheapest[at(i)];
      if (static_cast<std::int64_t>(rows_of_[at(j)].size()) < capacity_[at(j)])
        enter(i, j);
      else
        left.push_back(i);
    }
    for (std::int64_t j = 0; j < m_; ++j) renew(j);
    for (const std::int64_t i : left) augment(i);
    return std::move(column_of_);
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  void enter(std::int64_t row, std::int64_t column) {
    column_of_[at(row)] = column;
    rows_of_[at(column)].push_back(row);
  }

  // What it costs at least that one of a column's rows moves to each other column.
  void renew(std::int64_t j) {
    std::fill_n(exchange_.row(j), m_, kInfinity);
    for (const std::int64_t i : rows_of_[at(j)]) offer(i, j);
  }
  void offer(std::int64_t i, std::int64_t j) {
    const float* row = costs_.row(i);
    const double here = row[j];
    double* exchange = exchange_.row(j);
    std::int64_t* mover = mover_.row(j);
    for (std::int64_t k = 0; k < m_; ++k) {
      if (row[k] - here < exchange[k]) {
        exchange[k] = row[k] - here;
        mover[k] = i;
      }
    }
  }

  // Prices keep exchange(j, k) + price[j] - price[k] >= 0, so that Dijkstra may run over exchanges.
  void augment(std::int64_t start) {
    const float* row = costs_.row(start);
    done_.assign(at(m_), 0);
    double base = kInfinity;  // makes every first step's length positive
    for (std::int64_t j = 0; j < m_; ++j) base = std::min(base, row[j] - price_[at(j)]);
    for (std::int64_t j = 0; j < m_; ++j) {
      distance_[at(j)] = capacity_[at(j)] == 0 ? kInfinity : row[j] - price_[at(j)] - base;
      before_[at(j)] = kFree;
    }
    std::int64_t end = kFree;
    while (end == kFree) {
      std::int64_t nearest = kFree;
      for (std::int64_t j = 0; j < m_; ++j)
        if (!done_[at(j)] && (nearest == kFree || distance_[at(j)] < distance_[at(nearest)])) nearest = j;
      UNDERTEXT_CHECK(nearest != kFree && distance_[at(nearest)] < kInfinity);
      done_[at(nearest)] = 1;
      if (static_cast<std::int64_t>(rows_of_[at(nearest)].size()) < capacity_[at(nearest)]) {
        end = nearest;
        break;
      }
      const double* exchange = exchange_.row(nearest);
      const double offset = distance_[at(nearest)] + price_[at(nearest)];
      for (std::int64_t k = 0; k < m_; ++k) {
        const double through = offset + exchange[k] - price_[at(k)];
        if (!done_[at(k)] && capacity_[at(k)] > 0 && through < distance_[at(k)]) {
          distance_[at(k)] = through;
          before_[at(k)] = nearest;
        }
      }
    }
    const double length = distance_[at(end)];
    for (std::int64_t j = 0; j < m_; ++j)
      if (done_[at(j)]) price_[at(j)] += distance_[at(j)] - length;
    // The last exchange first: who moves was settled before anybody did.
    std::vector<std::int64_t> touched;
    std::int64_t column = end;
    while (before_[at(column)] != kFree) {
      const std::int64_t from = before_[at(column)], mover = mover_(from, column);
      std::erase(rows_of_[at(from)], mover);
      enter(mover, column);
      touched.push_back(column);
      column = from;
    }
    enter(start, column);
    touched.push_back(column);
    for (const std::int64_t j : touched) renew(j);
  }

  const Matrix<float>& costs_;
  std::vector<std::int64_t> capacity_;
  std::int64_t m_;
  std::vector<std::int64_t> column_of_;
  std::vector<std::vector<std::int64_t>> rows_of_;
  std::vector<double> price_;
  Matrix<double> exchange_;       // (from, to)
  Matrix<std::int64_t> mover_;    // the row that would move
  std::vector<double> distance_;  // of each column from the row that is to be placed
  std::vector<std::int64_t> before_;
  std::vector<char> done_;
};

}  // namespace

std::vector<std::int64_t> solve_transport(const Matrix<float>& costs,
                                          std::span<const std::int64_t> capacity) {
  UNDERTEXT_CHECK(static_cast<std::int64_t>(capacity.size()) == costs.cols);
  UNDERTEXT_CHECK(std::accumulate(capacity.begin(), capacity.end(), std::int64_t{0}) >= costs.rows);
  if (costs.rows == 0) return {};
  return Solver(costs, capacity).solve();
}

}  // namespace undertext
