// How far a mean may stray by chance when only few values are known.
#pragma once

namespace undertext {

// The t with P(|T| <= t) = 0.95 for Student's distribution with so many degrees of freedom, at least 1 and
// not necessarily whole.
double student_t_95(double degrees);

}  // namespace undertext
