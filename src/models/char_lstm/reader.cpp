#include "models/char_lstm/reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/threads.h"
#include "models/char_lstm/cell.h"

namespace undertext {
namespace {

constexpr std::int64_t kRows = 192;  // states that are extended at once: what they need stays in the cache

struct ReaderWorkspace {
  Buffer gates, h_before, c_before, h[2], c, tanh_c;
};

}  // namespace

StateId CharLstmReader::extend(std::span<const StateId> states, std::span<const Token> tokens) {
  UNDERTEXT_CHECK(states.size() == tokens.size());
  const auto first = static_cast<std::int64_t>(layers_[0].h.size()) / units_;
  const auto n = static_cast<std::int64_t>(states.size());
  for (const StateId state : states) UNDERTEXT_CHECK(state < first);
  for (const Token token : tokens) UNDERTEXT_CHECK(token >= 0 && token < weights_->characters);
  for (Layer& layer : layers_) {
    layer.h.resize(static_cast<std::size_t>((first + n) * units_));
    layer.c.resize(static_cast<std::size_t>((first + n) * units_));
  }
  parallel_for((n + kRows - 1) / kRows, [&](std::int64_t block) {
    const std::int64_t from = block * kRows, count = std::min(kRows, n - from);
    read(states.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count)),
         tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count)), first + from);
  });
  return static_cast<StateId>(first);
}

void CharLstmReader::read(std::span<const StateId> states, std::span<const Token> tokens,
                          std::int64_t first) {
  thread_local ReaderWorkspace work;
  const auto n = static_cast<std::int64_t>(states.size());
  const std::int64_t u = weights_->units;  // padded
  const Gates gates{work.gates.floats(kRows * 4 * u), n};
  float* h_before = work.h_before.floats(kRows * u);
  float* c_before = work.c_before.floats(kRows * u);
  float* c = work.c.floats(kRows * u);
  float* tanh_c = work.tanh_c.floats(kRows * u);
  const float* below = nullptr;  // h of the layer below
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const PackedLayer& packed = weights_->layers[l];
    Layer& layer = layers_[l];
    std::fill_n(h_before, n * u, 0.0f);
    std::fill_n(c_before, n * u, 0.0f);
    for (std::int64_t r = 0; r < n; ++r) {
      if (states[r] < 0) continue;
      std::copy_n(layer.h.data() + states[r] * units_, units_, h_before + r * u);
      std::copy_n(layer.c.data() + states[r] * units_, units_, c_before + r * u);
    }
    if (below) product(n, rows_of(below, u), packed.input, gates, 0, packed.bias);
    float* h = work.h[l % 2].floats(kRows * u);
    for (std::int64_t panel = 0; panel < packed.recurrent.panels(); ++panel) {
      const std::int64_t unit = panel * kLanes;
      if (!below)
        for (std::int64_t r = 0; r < n; ++r)
          std::copy_n(weights_->token_gates(tokens[r]) + panel * kPanel, kPanel, gates.at(panel, r));
      add_product(n, rows_of(h_before, u), packed.recurrent, panel, gates.at(panel, 0), kPanel);
      gates_forward({n, u, gates.at(panel, 0), c_before + unit, c + unit, tanh_c + unit}, h + unit);
    }
    for (std::int64_t r = 0; r < n; ++r) {
      std::copy_n(h + r * u, units_, layer.h.data() + (first + r) * units_);
      std::copy_n(c + r * u, units_, layer.c.data() + (first + r) * units_);
    }
    below = h;
  }
}

void CharLstmReader::clear() {
  for (Layer& layer : layers_) {
    layer.h.clear();
    layer.c.clear();
  }
}

void CharLstmReader::keep(std::span<const StateId> states) {
  for (Layer& layer : layers_)
    for (std::vector<float>* values : {&layer.h, &layer.c}) {
      StateId to = 0;
      for (const StateId from : states) {
        UNDERTEXT_CHECK(from >= to);
        std::memmove(values->data() + to * units_, values->data() + from * units_,
                     sizeof(float) * static_cast<std::size_t>(units_));
        ++to;
      }
      values->resize(static_cast<std::size_t>(to * units_));
    }
}

}  // namespace undertext
