#include "attacks/film/explain.h"

#include <algorithm>
#include <cmath>

#include "attacks/film/step_set.h"
#include "attacks/nnls.h"
#include "base/error.h"

namespace undertext {
namespace {

constexpr double kRidge = 1e-9;

Explanation explanation(const Tail& tail, const Filter& filter, const TailGradient& gradient,
                        const StepSet& set, const Sides& left, const Sides& right, std::vector<double> weight,
                        double one) {
  Explanation result;
  const std::vector<double> used = step_weights(set, weight);
  std::vector<double> negative = used;
  for (double& value : negative) value = -value;
  result.residual = gradient;
  add_steps(set.contexts, set.rows, set.steps, negative, result.residual);
  result.left = std::sqrt(squared_norm(result.residual) / squared_norm(gradient));
  // What each step still has of its own: its response in the residual, plus what was taken off.
  Filter rest = filter;
  rest.measure(result.residual);
  const std::vector<double> response = responses_of(tail, rest, set, left);
  const std::vector<double> energy = energies(left, set.rows, right);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    double found = 0, all = 1e-300;
    for (const std::int32_t step : set.of_sentence[i]) {
      const auto at = static_cast<std::size_t>(step);
      const double share = (response[at] / energy[at] + used[at]) / one;
      found +=
          energy[at] * std::clamp(share < 1 ? share : 2 - share / std::max(1.0, std::round(share)), 0.0, 1.0);
      all += energy[at];
    }
    result.confidence.push_back(found / all);
  }
  result.weight = std::move(weight);
  return result;
}

}  // namespace

Explanation Explainer::fit(const Filter& filter, const TailGradient& gradient,
                           std::span<const Sentence> sentences) const {
  const StepSet set = steps_of(model_, tail_, sentences);
  const Sides left = filter.left(set.contexts), right = filter.right(set.steps);
  const std::vector<double> response = responses_of(tail_, filter, set, left);
  const Matrix<double> steps = gram_of_steps(left, set.rows, right);
  const auto m = static_cast<std::int64_t>(sentences.size());
  // Sums over the steps of sentences, on one side and then on the other.
  Matrix<double> half(m, steps.cols), gram(m, m);
  std::vector<double> c(sentences.size(), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (const std::int32_t step : set.of_sentence[static_cast<std::size_t>(i)]) {
      for (std::int64_t j = 0; j < steps.cols; ++j) half(i, j) += steps(step, j);
      c[static_cast<std::size_t>(i)] += response[static_cast<std::size_t>(step)];
    }
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      for (const std::int32_t step : set.of_sentence[static_cast<std::size_t>(j)])
        gram(i, j) += half(i, step);
  std::vector<double> weight = solve_nnls(gram, c, kRidge);
  double one = 0;
  for (const double value : weight) one = std::max(one, value);
  return explanation(tail_, filter, gradient, set, left, right, std::move(weight), std::max(one, 1e-300));
}

Explanation Explainer::with(const Filter& filter, const TailGradient& gradient,
                            std::span<const Sentence> sentences, std::span<const double> weight,
                            double one) const {
  const StepSet set = steps_of(model_, tail_, sentences);
  return explanation(tail_, filter, gradient, set, filter.left(set.contexts), filter.right(set.steps),
                     {weight.begin(), weight.end()}, one);
}

}  // namespace undertext
