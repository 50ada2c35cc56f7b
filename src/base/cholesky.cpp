#include "base/cholesky.h"

#include "base/error.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
}

namespace undertext {
namespace {

// LAPACK stores columns: our lower triangle is its upper one, and our rows of b its columns.
constexpr const char* kOurLower = "U";

}  // namespace

bool cholesky(Matrix<double>& a) {
  UNDERTEXT_CHECK(a.rows == a.cols);
  if (a.rows == 0) return true;
  const int n = static_cast<int>(a.rows);
  int info = 0;
  dpotrf_(kOurLower, &n, a.data.data(), &n, &info);
  return info == 0;
}

void cholesky_solve(const Matrix<double>& l, Matrix<double>& b) {
  UNDERTEXT_CHECK(l.rows == b.cols);
  if (b.rows == 0 || b.cols == 0) return;
  const int n = static_cast<int>(l.rows), count = static_cast<int>(b.rows);
  int info = 0;
  dpotrs_(kOurLower, &n, &count, l.data.data(), &n, b.data.data(), &n, &info);
  UNDERTEXT_CHECK(info == 0);
}

Matrix<double> cholesky_inverse(Matrix<double> l) {
  if (l.rows == 0) return l;
  const int n = static_cast<int>(l.rows);
  int info = 0;
  dpotri_(kOurLower, &n, l.data.data(), &n, &info);
  UNDERTEXT_CHECK(info == 0);
  for (std::int64_t i = 0; i < l.rows; ++i)
    for (std::int64_t j = 0; j < i; ++j) l(j, i) = l(i, j);
  return l;
}

}  // namespace undertext
