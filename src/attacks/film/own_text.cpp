#include "attacks/film/own_text.h"

#include <algorithm>
#include <cmath>

#include "models/some_words.h"

namespace undertext {

OwnText own_text(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                 std::span<const Token> starts, std::int64_t texts, std::int64_t length, Seed seed) {
  TransformerReader reader(model, true);
  const SomeWords words(*model, starts);
  const auto n = static_cast<std::size_t>(texts);
  std::vector<Random> random;
  for (std::size_t i = 0; i < n; ++i) random.emplace_back(seed.derive(i));
  const auto any = [&](std::size_t i) { return starts[random[i].below(starts.size())]; };
  std::vector<StateId> at(n, -1), states;
  std::vector<Token> next(n), followed;
  for (std::size_t i = 0; i < n; ++i) next[i] = any(i);
  for (std::int64_t place = 0; place < length; ++place) {
    const StateId first = reader.extend(at, next);
    const Matrix<float> logits = words.logits(reader.hidden(first), texts);
    for (std::size_t i = 0; i < n; ++i) {
      at[i] = first + static_cast<StateId>(i);
      states.push_back(at[i]);
      next[i] = any(i);
      if (random[i].uniform() < 0.5) {
        // Gumbel's trick: the largest of logit - log(-log u) is a draw from the softmax.
        const float* row = logits.row(static_cast<std::int64_t>(i));
        double best = -INFINITY;
        for (std::size_t k = 0; k < starts.size(); ++k) {
          const double value = row[k] - std::log(-std::log(std::max(random[i].uniform(), 1e-300)));
          if (value > best) best = value, next[i] = starts[k];
        }
      }
      followed.push_back(next[i]);
    }
  }
  OwnText result;
  result.contexts = tail.contexts(reader, states);
  std::vector<std::int32_t> rows(states.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i);
  result.steps = tail.steps(result.contexts, rows, followed);
  return result;
}

}  // namespace undertext
