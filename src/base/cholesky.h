// Symmetric positive definite systems. Matrices are row-major; only the lower triangle is read or written.
#pragma once

#include "base/matrix.h"

namespace undertext {

// a = L L', with L in the place of a's lower triangle. False when a is not positive definite.
bool cholesky(Matrix<double>& a);

// Solves L L' x = b for every row b, in place.
void cholesky_solve(const Matrix<double>& l, Matrix<double>& b);

// (L L')^-1, both triangles.
Matrix<double> cholesky_inverse(Matrix<double> l);

}  // namespace undertext
