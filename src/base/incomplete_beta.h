// The incomplete beta function, behind Student's distribution and the exact bounds of a share.
#pragma once

namespace undertext {

// The regularized I_x(a, b), a and b positive; 0 below x = 0 and 1 above x = 1.
double incomplete_beta(double a, double b, double x);

}  // namespace undertext
