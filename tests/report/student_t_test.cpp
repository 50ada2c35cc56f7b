#include "report/student_t.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(StudentT, AgreesWithPublishedTables) {
  // Two-sided 95 %, as every table of the distribution gives it.
  const std::pair<double, double> table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},   {4, 2.776},
                                             {5, 2.571},  {9, 2.262},  {10, 2.228},  {20, 2.086},
                                             {30, 2.042}, {60, 2.000}, {120, 1.980}, {1000, 1.962}};
  for (const auto& [degrees, t] : table) EXPECT_NEAR(student_t_95(degrees), t, 0.0005) << degrees;
}

TEST(StudentT, HasClosedFormsForOneAndTwo) {
  EXPECT_NEAR(student_t_95(1), 12.706204736174698, 1e-9);  // tan(0.95 pi / 2)
  EXPECT_NEAR(student_t_95(2), 4.3026527297494637, 1e-9);  // 0.95 sqrt(2 / (1 - 0.95²))
}

TEST(StudentT, FallsToTheNormalOne) {
  EXPECT_NEAR(student_t_95(1e9), 1.959964, 1e-6);
  EXPECT_NEAR(student_t_95(999'999), 1.959966, 1e-5);
  EXPECT_GT(student_t_95(2.5), student_t_95(3));
  EXPECT_LT(student_t_95(2.5), student_t_95(2));
}

}  // namespace
}  // namespace undertext
