// Matrix products on all threads with the same bytes for any number of them: the result is cut into fixed
// blocks of rows, and each block is one single-threaded BLAS call.
#pragma once

#include "base/matrix.h"

namespace undertext {

enum class Transpose { no, yes };

// c = alpha * op(a) op(b) + beta * c. Shapes must fit; c has its size already.
void multiply(const Matrix<float>& a, Transpose ta, const Matrix<float>& b, Transpose tb, Matrix<float>& c,
              float alpha = 1, float beta = 0);
void multiply(const Matrix<double>& a, Transpose ta, const Matrix<double>& b, Transpose tb, Matrix<double>& c,
              double alpha = 1, double beta = 0);

// a a' (rows, rows), both triangles filled.
Matrix<double> gram(const Matrix<double>& a);

// Each entry of g times that of a a', without holding the latter.
void multiply_by_gram(const Matrix<double>& a, Matrix<double>& g);

}  // namespace undertext
