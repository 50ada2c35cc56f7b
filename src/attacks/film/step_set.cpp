#include "attacks/film/step_set.h"

#include <map>

namespace undertext {

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

}  // namespace undertext
