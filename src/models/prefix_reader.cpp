#include "models/prefix_reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace undertext {

StateId CifgReader::extend(std::span<const StateId> states, std::span<const Token> tokens) {
  UNDERTEXT_CHECK(states.size() == tokens.size());
  const std::int64_t n = static_cast<std::int64_t>(states.size());
  const std::int64_t embedding = model_->config().embedding, units = model_->config().units;
  const StateId first = static_cast<StateId>(h_.size() / static_cast<std::size_t>(embedding));
  CifgLstm::State state = model_->start_state(n);
  float* h = state.h.data_ptr<float>();
  float* c = state.c.data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    if (states[i] < 0) continue;
    UNDERTEXT_CHECK(states[i] < first);
    std::memcpy(h + i * embedding, h_.data() + states[i] * embedding, sizeof(float) * embedding);
    std::memcpy(c + i * units, c_.data() + states[i] * units, sizeof(float) * units);
  }
  const CifgLstm::State next = model_->step(state, tokens);
  const float* next_h = next.h.data_ptr<float>();
  const float* next_c = next.c.data_ptr<float>();
  h_.insert(h_.end(), next_h, next_h + n * embedding);
  c_.insert(c_.end(), next_c, next_c + n * units);
  return first;
}

void CifgReader::clear() {
  h_.clear();
  c_.clear();
}

void CifgReader::keep(std::span<const StateId> states) {
  const std::int64_t embedding = model_->config().embedding, units = model_->config().units;
  StateId to = 0;
  for (StateId from : states) {
    UNDERTEXT_CHECK(from >= to);
    std::memmove(h_.data() + to * embedding, h_.data() + from * embedding, sizeof(float) * embedding);
    std::memmove(c_.data() + to * units, c_.data() + from * units, sizeof(float) * units);
    ++to;
  }
  h_.resize(static_cast<std::size_t>(to * embedding));
  c_.resize(static_cast<std::size_t>(to * units));
}

}  // namespace undertext
