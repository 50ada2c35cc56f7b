#include "defences/inspection/statistics.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/random.h"

namespace undertext {
namespace {

TEST(InspectionStatistics, OfEntries) {
  const EntryStatistics entries = entry_statistics(torch::tensor({0.0f, 3.0f, -4.0f, 0.0f}));
  EXPECT_EQ(entries.zeros, 2);
  EXPECT_DOUBLE_EQ(entries.largest, 4);
  EXPECT_DOUBLE_EQ(entries.rms, 2.5);
  EXPECT_DOUBLE_EQ(entries.kurtosis, (81.0 + 256) / 4 / (6.25 * 6.25));
  EXPECT_EQ(entry_statistics(torch::zeros({3})).kurtosis, 0);
}

TEST(InspectionStatistics, RowDirectionsKnowNoLengthsAndSigns) {
  const torch::Tensor matrix = torch::tensor({{1.0f, 1.0f}, {-2e9f, -2e9f}, {0.0f, 0.0f}, {3e-9f, 3e-9f}});
  const RowDirections parallel = row_directions(matrix);
  EXPECT_EQ(parallel.rows, 3);
  EXPECT_NEAR(parallel.mean_squared_cosine, 1, 1e-6);
  EXPECT_NEAR(std::abs(parallel.along[0]), std::sqrt(2), 1e-6);
  EXPECT_NEAR(parallel.along[1] / parallel.along[0], -2e9, 1e4);
  EXPECT_EQ(parallel.along[2], 0);
  // Two pairs of three at right angles, one parallel.
  EXPECT_NEAR(row_directions(torch::tensor({{1.0f, 0.0f}, {0.0f, 1.0f}, {0.0f, 5.0f}})).mean_squared_cosine,
              1.0 / 3, 1e-6);
}

TEST(InspectionStatistics, RanksShareTheirPlaces) {
  EXPECT_EQ(ranks_of({5, 1, 5, 7}), (std::vector<double>{1.5, 0, 1.5, 3}));
  EXPECT_DOUBLE_EQ(rank_order({1, 2, 30, 400}), 1);
  EXPECT_DOUBLE_EQ(rank_order({4, 3, 2, 1}), -1);
  EXPECT_EQ(rank_order({2, 2, 2}), 0);
}

TEST(InspectionStatistics, EvennessTellsQuantilesFromSamples) {
  std::vector<double> ruler, sample, squares;
  Random draw(Seed(1));
  for (int i = 0; i < 1000; ++i) {
    ruler.push_back((i * 7) % 1000);  // in another order
    squares.push_back(1.0 * i * i);
    sample.push_back(draw.normal());
  }
  EXPECT_NEAR(evenness(ruler), 1, 1e-9);
  EXPECT_GT(evenness(squares), 0.99);
  EXPECT_LT(evenness(sample), 0.1);
  EXPECT_EQ(evenness(std::vector<double>(ruler.begin(), ruler.begin() + 31)), 0) << "too few to say";
  for (double& value : ruler) value = std::floor(value / 2);
  EXPECT_EQ(evenness(ruler), 0) << "rounded numbers lie on a ruler by themselves";
}

TEST(InspectionStatistics, OfColumns) {
  const std::vector<double> energies = column_energies(torch::tensor({{1.0f, 2.0f}, {0.0f, 2.0f}}));
  EXPECT_EQ(energies, (std::vector<double>{1, 8}));
  EXPECT_DOUBLE_EQ(largest_share(energies), 8.0 / 9);
  EXPECT_EQ(largest_share({0, 0}), 0);
}

}  // namespace
}  // namespace undertext
