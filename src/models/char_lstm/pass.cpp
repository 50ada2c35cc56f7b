#include "models/char_lstm/pass.h"

#include <algorithm>

#include "base/error.h"
#include "models/char_lstm/cell.h"

namespace undertext {
namespace {

// Input and recurrent weights of a layer that stay in the second-level cache together: then products step by
// step find what they read there, too. Otherwise the weights come from further away, and as many rows as
// possible should share the way.
constexpr std::int64_t kCachedWeights = 192 * 1024, kRowsPerRun = 192;

}  // namespace

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
    layer.gates = {own.gates.floats(4 * n), rows.rows()};
    layer.h = own.h.floats(with_start);
    layer.c = own.c.floats(with_start);
    layer.tanh_c = own.tanh_c.floats(n);
    layer.out = drops(l) ? own.out.floats(n) : layer.h + rows.places() * units_;
  }
  const std::int64_t at_once = 8 * units_ * units_ <= kCachedWeights ? 1 : kRowsPerRun;
  for (std::int64_t first = 0; first < rows.steps();) {
    std::int64_t last = first + 1;
    while (last < rows.steps() && rows.begin[last + 1] - rows.begin[first] <= at_once) ++last;
    runs_.emplace_back(first, last);
    first = last;
  }
}

const float* LstmPass::forward(const float* inputs, const LstmState* state, std::size_t sentences) {
  const bool from_nothing = !state || state->empty();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    start(layers_[l], l, from_nothing ? nullptr : state, sentences);
    layers_[l].inputs = l == 0 ? inputs : layers_[l - 1].out;
    for (const Steps& run : runs_) {
      read_inputs(l, run);
      for (std::int64_t step = run.first; step < run.second; ++step)
        forward_step(l, step, from_nothing && step == 0);
    }
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

void LstmPass::read_inputs(std::size_t l, const Steps& run) const {
  const PackedLayer& packed = weights_.layers[l];
  const Layer& layer = layers_[l];
  const std::int64_t first = rows_.begin[run.first], last = rows_.begin[run.second];
  if (layer.inputs)
    return product(last - first, rows_of(layer.inputs + first * packed.inputs, packed.inputs), packed.input,
                   layer.gates, first, packed.bias);
  for (std::int64_t panel = 0; panel < packed.input.panels(); ++panel)
    for (std::int64_t r = first; r < last; ++r) {
      const float* __restrict from = weights_.token_gates(rows_.token[r]) + panel * kPanel;
      float* __restrict to = layer.gates.at(panel, r);
      for (std::int64_t j = 0; j < kPanel; ++j) to[j] = from[j];  // inline: too short for a call
    }
}

void LstmPass::forward_step(std::size_t l, std::int64_t step, bool from_nothing) const {
  const Layer& layer = layers_[l];
  const std::int64_t first = rows_.begin[step], n = rows_.width(step);
  const std::int64_t before = state_before(step), after = rows_.places() + first;
  const Panels& recurrent = weights_.layers[l].recurrent;
  for (std::int64_t panel = 0; panel < recurrent.panels(); ++panel) {
    const std::int64_t unit = panel * kLanes;
    float* gates = layer.gates.at(panel, first);
    if (!from_nothing)
      add_product(n, rows_of(layer.h + before * units_, units_), recurrent, panel, gates, kPanel);
    gates_forward({n, units_, gates, layer.c + before * units_ + unit, layer.c + after * units_ + unit,
                   layer.tanh_c + first * units_ + unit},
                  layer.h + after * units_ + unit);
  }
  if (drops(l)) drop(l, step, layer.h + after * units_, layer.out + first * units_);
}

float* LstmPass::backward(float* d_out, bool to_inputs) {
  float* d_inputs = to_inputs ? work_.d_inputs.floats(rows_.rows() * weights_.embedding) : nullptr;
  float* d_c = work_.d_c.floats(rows_.places() * units_);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    std::fill_n(d_c, rows_.places() * units_, 0.0f);
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      for (std::int64_t step = run->second; step-- > run->first;) backward_step(l, step, d_out, d_c);
      // d_out of these steps is used up: what the layer below has to know takes its place.
      if (l > 0)
        to_inputs_of(l, *run, d_out);
      else if (to_inputs)
        to_inputs_of(l, *run, d_inputs);
    }
    layers_[l].h_before = gather_h_before(l);
  }
  return d_inputs;
}

void LstmPass::backward_step(std::size_t l, std::int64_t step, float* d_out, float* d_c) const {
  const Layer& layer = layers_[l];
  const std::int64_t first = rows_.begin[step], n = rows_.width(step), before = state_before(step);
  // Sentences that are read on ask something of this step's h; the others end here.
  const std::int64_t next = rows_.begin[step + 1];
  const std::int64_t read_on = step + 1 < rows_.steps() ? rows_.width(step + 1) : 0;
  float* d_h = d_out + first * units_;
  if (drops(l)) drop(l, step, d_h, d_h);
  const Panels& back = weights_.layers[l].recurrent_back;
  for (std::int64_t panel = 0; panel < back.panels(); ++panel) {
    const std::int64_t from = panel * kPanel, to = from + back.vectors(panel) * kLanes;
    if (read_on > 0) add_product(read_on, layer.gates.from(next), back, panel, d_h + from, units_);
    for (std::int64_t unit = from; unit < to; unit += kLanes)
      gates_backward({n, units_, layer.gates.at(unit / kLanes, first), layer.c + before * units_ + unit,
                      nullptr, layer.tanh_c + first * units_ + unit},
                     d_h + unit, units_, d_c + unit);
  }
}

void LstmPass::to_inputs_of(std::size_t l, const Steps& run, float* d_inputs) const {
  const PackedLayer& packed = weights_.layers[l];
  const std::int64_t first = rows_.begin[run.first], last = rows_.begin[run.second];
  product(last - first, layers_[l].gates.from(first), packed.input_back, d_inputs + first * packed.inputs,
          packed.inputs);
}

void LstmPass::drop(std::size_t l, std::int64_t step, const float* from, float* to) const {
  for (std::int64_t place = 0; place < rows_.width(step); ++place) {
    const std::uint64_t row = (rows_.sentence[place] << 32) + static_cast<std::uint64_t>(step);
    dropout_[l].apply_to_row(row, from + place * units_, to + place * units_, units_);
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
