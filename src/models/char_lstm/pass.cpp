#include "models/char_lstm/pass.h"

#include <algorithm>

#include "base/error.h"
#include "models/char_lstm/cell.h"

namespace undertext {

LstmPass::LstmPass(const PackedWeights& weights, const StepRows& rows, std::vector<Dropout> dropout,
                   LstmWorkspace& workspace)
    : weights_(weights),
      rows_(rows),
      dropout_(std::move(dropout)),
      work_(workspace),
      units_(weights.units),
      layers_(weights.layers.size()) {
  UNDERTEXT_CHECK(rows.rows() > 0 && (dropout_.empty() || dropout_.size() == layers_.size()));
  work_.layers.resize(layers_.size());
  const std::int64_t n = rows.rows() * units_, with_start = n + rows.places() * units_;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    LstmLayerWorkspace& own = work_.layers[l];
    Layer& layer = layers_[l];
    layer.inputs = nullptr;
    layer.gates = own.gates.floats(4 * n);
    layer.h = own.h.floats(with_start);
    layer.c = own.c.floats(with_start);
    layer.tanh_c = own.tanh_c.floats(n);
    layer.out = drops(l) ? own.out.floats(n) : layer.h + rows.places() * units_;
  }
}

const float* LstmPass::forward(const float* inputs, const LstmState* state, std::size_t sentences) {
  const bool from_nothing = !state || state->empty();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    start(layers_[l], l, from_nothing ? nullptr : state, sentences);
    layers_[l].inputs = l == 0 ? inputs : layers_[l - 1].out;
    forward_layer(l, from_nothing);
  }
  return layers_.back().out;
}

void LstmPass::start(Layer& layer, std::size_t l, const LstmState* state, std::size_t sentences) const {
  std::fill_n(layer.h, rows_.places() * units_, 0.0f);
  std::fill_n(layer.c, rows_.places() * units_, 0.0f);
  if (!state) return;
  const auto units = static_cast<std::int64_t>(state->h.size() / (layers_.size() * sentences));
  for (std::int64_t place = 0; place < rows_.places(); ++place) {
    const auto from = static_cast<std::int64_t>(l * sentences + rows_.sentence[place]) * units;
    std::copy_n(state->h.data() + from, units, layer.h + place * units_);
    std::copy_n(state->c.data() + from, units, layer.c + place * units_);
  }
}

void LstmPass::last_state(LstmState& state, std::size_t sentences, std::int64_t units) const {
  for (std::size_t l = 0; l < layers_.size(); ++l)
    for (std::int64_t place = 0; place < rows_.places(); ++place) {
      const std::int64_t from = (state_before(rows_.length(place)) + place) * units_;
      const auto to = static_cast<std::int64_t>(l * sentences + rows_.sentence[place]) * units;
      std::copy_n(layers_[l].h + from, units, state.h.data() + to);
      std::copy_n(layers_[l].c + from, units, state.c.data() + to);
    }
}

void LstmPass::forward_layer(std::size_t l, bool from_nothing) {
  const PackedLayer& packed = weights_.layers[l];
  const Layer& layer = layers_[l];
  if (layer.inputs) {
    product(rows_.rows(), layer.inputs, packed.inputs, packed.input, layer.gates, 4 * units_, packed.bias);
  } else {
    for (std::int64_t r = 0; r < rows_.rows(); ++r)
      std::copy_n(weights_.token_gates(rows_.token[r]), 4 * units_, layer.gates + r * 4 * units_);
  }
  for (std::int64_t step = 0; step < rows_.steps(); ++step) forward_step(l, step, from_nothing && step == 0);
}

void LstmPass::forward_step(std::size_t l, std::int64_t step, bool from_nothing) {
  const Layer& layer = layers_[l];
  const std::int64_t first = rows_.begin[step], n = rows_.width(step);
  const std::int64_t before = state_before(step), after = rows_.places() + first;
  const Panels& recurrent = weights_.layers[l].recurrent;
  for (std::int64_t panel = 0; panel < recurrent.panels(); ++panel) {
    const std::int64_t unit = panel * kLanes;
    float* gates = layer.gates + first * 4 * units_ + panel * kPanel;
    if (!from_nothing) add_product(n, layer.h + before * units_, units_, recurrent, panel, gates, 4 * units_);
    gates_forward({n, units_, gates, layer.c + before * units_ + unit, layer.c + after * units_ + unit,
                   layer.tanh_c + first * units_ + unit},
                  layer.h + after * units_ + unit);
  }
  if (drops(l)) drop(l, step, layer.h + after * units_, layer.out + first * units_);
}

float* LstmPass::backward(float* d_out, bool to_inputs) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    backward_layer(l, d_out);
    layers_[l].h_before = gather_h_before(l);
    const Panels& back = weights_.layers[l].input_back;
    if (l > 0) product(rows_.rows(), layers_[l].gates, 4 * units_, back, d_out, units_);
  }
  if (!to_inputs) return nullptr;
  float* d_inputs = work_.d_inputs.floats(rows_.rows() * weights_.embedding);
  product(rows_.rows(), layers_[0].gates, 4 * units_, weights_.layers[0].input_back, d_inputs,
          weights_.embedding);
  return d_inputs;
}

void LstmPass::backward_layer(std::size_t l, float* d_out) {
  float* d_c = work_.d_c.floats(rows_.places() * units_);
  std::fill_n(d_c, rows_.places() * units_, 0.0f);
  for (std::int64_t step = rows_.steps() - 1; step >= 0; --step) backward_step(l, step, d_out);
}

void LstmPass::backward_step(std::size_t l, std::int64_t step, float* d_out) {
  const Layer& layer = layers_[l];
  const std::int64_t first = rows_.begin[step], n = rows_.width(step), before = state_before(step);
  // Sentences that are read on ask something of this step's h; the others end here.
  const std::int64_t next = rows_.begin[step + 1],
                     read_on = step + 1 < rows_.steps() ? rows_.width(step + 1) : 0;
  float* d_h = d_out + first * units_;
  if (drops(l)) drop(l, step, d_h, d_h);
  const Panels& back = weights_.layers[l].recurrent_back;
  float* d_c = work_.d_c.floats(rows_.places() * units_);
  for (std::int64_t panel = 0; panel < back.panels(); ++panel) {
    const std::int64_t from = panel * kPanel, to = from + back.vectors(panel) * kLanes;
    if (read_on > 0)
      add_product(read_on, layer.gates + next * 4 * units_, 4 * units_, back, panel, d_h + from, units_);
    for (std::int64_t unit = from; unit < to; unit += kLanes)
      gates_backward({n, units_, layer.gates + first * 4 * units_ + 4 * unit,
                      layer.c + before * units_ + unit, nullptr, layer.tanh_c + first * units_ + unit},
                     d_h + unit, units_, d_c + unit);
  }
}

void LstmPass::drop(std::size_t l, std::int64_t step, const float* from, float* to) const {
  for (std::int64_t place = 0; place < rows_.width(step); ++place) {
    const std::uint64_t row = (rows_.sentence[place] << 32) + static_cast<std::uint64_t>(step);
    const std::uint64_t begin = row * static_cast<std::uint64_t>(units_);
    const float* x = from + place * units_;
    float* y = to + place * units_;
    for (std::int64_t j = 0; j < units_; ++j)
      y[j] = x[j] * dropout_[l].factor(begin + static_cast<std::uint64_t>(j));
  }
}

const float* LstmPass::gather_h_before(std::size_t l) {
  const float* h = layers_[l].h;
  if (rows_.even()) return h;  // the states of a step follow those of the step before without a gap
  float* gathered = work_.layers[l].before.floats(rows_.rows() * units_);
  for (std::int64_t step = 0; step < rows_.steps(); ++step)
    std::copy_n(h + state_before(step) * units_, rows_.width(step) * units_,
                gathered + rows_.begin[step] * units_);
  return gathered;
}

}  // namespace undertext
