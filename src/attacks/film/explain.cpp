#include "attacks/film/explain.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attacks/nnls.h"
#include "base/error.h"

namespace undertext {
namespace {

constexpr double kRidge = 1e-9;

// All steps of some sentences, each once, and which are whose.
struct StepSet {
  TailContexts contexts;
  std::vector<std::int32_t> rows;
  std::vector<Token> tokens;
  TailSteps steps;
  std::vector<std::vector<std::int32_t>> of_sentence;
};

StepSet steps_of(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                 std::span<const Sentence> sentences) {
  StepSet set;
  set.of_sentence.resize(sentences.size());
  TransformerReader reader(model, true);
  std::vector<StateId> at(sentences.size(), -1), states;
  std::map<std::pair<StateId, Token>, StateId> read;           // prefix and token: the longer prefix
  std::map<std::pair<StateId, Token>, std::int32_t> numbered;  // its step
  std::map<StateId, std::int32_t> context;
  for (std::size_t place = 0;; ++place) {
    std::vector<StateId> from;
    std::vector<Token> tokens;
    bool any = false;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      if (place >= sentences[i].size()) continue;
      any = true;
      const std::pair key(at[i], sentences[i][place]);
      if (place > 0) {
        const auto [row, new_context] = context.emplace(at[i], static_cast<std::int32_t>(context.size()));
        if (new_context) states.push_back(at[i]);
        const auto [step, fresh] = numbered.emplace(key, static_cast<std::int32_t>(set.rows.size()));
        if (fresh) set.rows.push_back(row->second), set.tokens.push_back(key.second);
        set.of_sentence[i].push_back(step->second);
      }
      if (place + 1 < sentences[i].size() && read.emplace(key, -1).second)
        from.push_back(key.first), tokens.push_back(key.second);
    }
    if (!any) break;
    if (!from.empty()) {
      const StateId first = reader.extend(from, tokens);
      for (std::size_t j = 0; j < from.size(); ++j)
        read[{from[j], tokens[j]}] = first + static_cast<StateId>(j);
    }
    for (std::size_t i = 0; i < sentences.size(); ++i)
      if (place + 1 < sentences[i].size()) at[i] = read.at({at[i], sentences[i][place]});
  }
  set.contexts = tail.contexts(reader, states);
  set.steps = tail.steps(set.contexts, set.rows, set.tokens);
  return set;
}

// <step, gradient> of each, whitened.
std::vector<double> responses_of(const Tail& tail, const Filter& filter, const StepSet& set,
                                 const Sides& left) {
  const Sides sides = filter.responses(left);
  const Matrix<float> direction = tail.back(set.contexts, sides[0], sides[1], sides[2]);
  std::vector<double> result(set.rows.size(), 0.0);
  for (std::size_t i = 0; i < set.rows.size(); ++i) {
    const std::int32_t c = set.rows[i];
    const float* word = tail.word(set.tokens[i]);
    for (std::int64_t j = 0; j < tail.width(); ++j)
      result[i] += static_cast<double>(direction(c, j)) * (set.contexts.expected(c, j) - word[j]);
  }
  return result;
}

double squared_norm(const TailGradient& gradient) {
  double total = 0;
  for (const Matrix<double>& part : gradient)
    for (const double value : part.data) total += value * value;
  return total;
}

std::vector<double> step_weights(const StepSet& set, std::span<const double> weight) {
  std::vector<double> result(set.rows.size(), 0.0);
  for (std::size_t i = 0; i < weight.size(); ++i)
    for (const std::int32_t step : set.of_sentence[i]) result[static_cast<std::size_t>(step)] += weight[i];
  return result;
}

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
