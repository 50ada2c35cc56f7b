// A matched filter for steps of text in the gradients of a transformer's last block.
//
// The gradient of each of the block's matrices is a sum of dyads left_c (x) right_ck over the steps (c, k) of
// the text (tail.h). Seen from one step all others are noise, whose covariance is about that of the left
// sides times that of the right ones. Whitened by both, noise has variance 1 in every direction, and how a
// step responds tells it from all others as well as any linear test can. The left sides' second moments come
// from contexts of the model's own making, the right sides' from the gradient itself.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "attacks/film/tail.h"
#include "base/matrix.h"

namespace undertext {

inline constexpr std::size_t kDyads = 3;  // feed-forward output, feed-forward input, attention output

// The gradient of each matrix with its bias as one more row: (F + 1, D), (D + 1, F), (D + 1, D). Empty: not
// in the update.
using TailGradient = std::array<Matrix<double>, kDyads>;

// Adds weight[i] times the dyads of step i to a gradient of the same shapes.
void add_steps(const TailContexts& contexts, std::span<const std::int32_t> rows, const TailSteps& steps,
               std::span<const double> weight, TailGradient& gradient);

// Left sides of contexts, whitened: (n, F + 1), (n, D + 1), (n, D + 1). Right sides of steps, whitened.
using Sides = std::array<Matrix<float>, kDyads>;

class Filter {
 public:
  // Steps like those of the text. ridge: added to the second moments, in units of their mean diagonal.
  // places: they lie place by place, as many of each. All first tokens look alike beside all that comes
  // later, and so does each place: what contexts have in common for where they stand counts as noise.
  Filter(const TailContexts& contexts, const TailSteps& steps, std::int64_t places, double ridge);
  // Whitens nothing: for what is left when all that was noise has been explained.
  static Filter plain(const TailGradient& gradient);
  // Takes the narrower sides' moments from what is left to be explained, and measures responses in it.
  // own_share: of the moments, from the model's own text instead. A few steps leave some directions of the
  // gradient empty, which must not count as free of noise; and where hardly any are left, whose contexts are
  // alike, their own moments would cancel the very steps that are looked for.
  void observe(const TailGradient& residual, double own_share);

  // Measures in another gradient, with the same moments.
  void measure(const TailGradient& gradient);

  Sides left(const TailContexts& contexts) const;
  Sides right(const TailSteps& steps) const;
  Matrix<float> right_of_delta(const Matrix<float>& delta) const;  // of the first dyad alone
  // What back() makes of these is, times W' p_c - W_k, the response of the step (c, k).
  Sides responses(const Sides& left) const;

 private:
  Filter() = default;
  struct Dyad {
    Matrix<double> narrow;                         // second moments of the narrower side
    Matrix<double> wide;                           // rows of the wider side times this are white
    Matrix<double> left_whitener, right_whitener;  // empty: nothing is whitened
    Matrix<float> left, right;                     // the same of both sides
    Matrix<float> observed;  // whitened on the left, and on the right twice; empty: not in the update
  };
  double ridge_ = 0;
  std::array<Dyad, kDyads> dyads_;
};

// <step, step'> of whitened steps, summed over the dyads.
Matrix<double> gram_of_steps(const Sides& left, std::span<const std::int32_t> rows, const Sides& right);

// |step|^2 of each.
std::vector<double> energies(const Sides& left, std::span<const std::int32_t> rows, const Sides& right);

}  // namespace undertext
