#include "models/cifg_cell.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/threads.h"
#include "models/cifg_gates.h"
#include "models/fast_math.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr std::int64_t kUnitBlocks = 4;  // pieces of the units that threads take

std::int64_t block_width(std::int64_t units) {
  const std::int64_t width = (units + kUnitBlocks - 1) / kUnitBlocks;
  return (width + 15) / 16 * 16;
}

void zero(float* x, std::int64_t n) {
  std::memset(x, 0, static_cast<std::size_t>(n) * sizeof(float));
}

// n units of one context. x, r: pre-activations from input and recurrence; gates f, g, o lie U apart.
void gates_forward(std::int64_t n, std::int64_t units, const float* __restrict x, const float* __restrict r,
                   const float* __restrict bias, const float* __restrict c_before, float* __restrict gates,
                   float* __restrict c, float* __restrict tanh_c, float* __restrict y) {
  for (std::int64_t j = 0; j < n; ++j) {
    const float f = fast_sigmoid(x[j] + r[j] + bias[j]);
    const float g = fast_tanh(x[j + units] + r[j + units] + bias[j + units]);
    const float o = fast_sigmoid(x[j + 2 * units] + r[j + 2 * units] + bias[j + 2 * units]);
    const float cell = multiply_add(f, c_before[j] - g, g);  // f c' + (1 - f) g
    const float t = fast_tanh(cell);
    gates[j] = f;
    gates[j + units] = g;
    gates[j + 2 * units] = o;
    c[j] = cell;
    tanh_c[j] = t;
    y[j] = o * t;
  }
}

// d_c: what the contexts that follow ask of c. Adds to the pre-activations' gradients and to d_c_before.
void gates_backward(std::int64_t n, std::int64_t units, const float* __restrict d_y,
                    const float* __restrict d_c, const float* __restrict gates,
                    const float* __restrict tanh_c, const float* __restrict c_before,
                    float* __restrict d_input, float* __restrict d_recurrent, float* __restrict d_c_before) {
  for (std::int64_t j = 0; j < n; ++j) {
    const GateGradient d = gate_gradient(gates[j], gates[j + units], gates[j + 2 * units], tanh_c[j],
                                         c_before[j], d_y[j], d_c[j]);
    d_input[j] += d.f;
    d_input[j + units] += d.g;
    d_input[j + 2 * units] += d.o;
    d_recurrent[j] += d.f;
    d_recurrent[j + units] += d.g;
    d_recurrent[j + 2 * units] += d.o;
    d_c_before[j] += d.c_before;
  }
}

// to[j] += scale * sum over rows of x[row][j], in double; rows lie `stride` apart.
void add_column_sums(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n, double scale,
                     float* to) {
  std::vector<double> sums(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += static_cast<double>(x[r * stride + j]);
  for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<float>(to[j] + scale * sums[j]);
}

}  // namespace

CifgCell::CifgCell(const CellWeights& weights, const PrefixTree& tree, CellWorkspace& workspace)
    : w_(weights),
      tree_(tree),
      workspace_(workspace),
      width_(block_width(weights.units)),
      blocks_((weights.units + width_ - 1) / width_) {
  const std::int64_t e = w_.embedding, u = w_.units, rows = tree_.rows();
  inputs_ = workspace.inputs.floats(tree_.slots() * e);
  input_gates_ = workspace.input_gates.floats(tree_.slots() * 3 * u);
  recurrent_gates_ = workspace.recurrent_gates.floats(tree_.inner() * 3 * u);
  inner_h_ = workspace.inner_h.floats(tree_.inner() * e);
  gates_ = workspace.gates.floats(rows * 3 * u);
  c_ = workspace.c.floats(rows * u);
  tanh_c_ = workspace.tanh_c.floats(rows * u);
  y_ = workspace.y.floats(rows * u);
  h_ = workspace.h.floats(rows * e);
  std::int64_t widest = 0;
  for (std::int64_t t = 0; t < tree_.depths(); ++t)
    widest = std::max(widest, tree_.depth_begin[t + 1] - tree_.depth_begin[t]);
  parts_ = workspace.parts.floats(blocks_ * widest * e);
  float* zeros = workspace.zeros.floats(3 * u);
  zero(zeros, 3 * u);
  zeros_ = zeros;
}

const float* CifgCell::forward() {
  const std::int64_t e = w_.embedding, u = w_.units;
  for (std::int64_t s = 0; s < tree_.slots(); ++s)
    std::copy_n(w_.token_embedding + tree_.slot_token[s] * e, e, inputs_ + s * e);
  parallel_for(blocks_, [&](std::int64_t block) {
    const std::int64_t from = block * width_, n = std::min(width_, u - from);
    for (std::int64_t gate = from; gate < 3 * u; gate += u)
      gemm(CblasNoTrans, CblasTrans, tree_.slots(), n, e, 1, inputs_, e, w_.weight_ih + gate * e, e, 0,
           input_gates_ + gate, 3 * u);
  });
  for (std::int64_t depth = 0; depth < tree_.depths(); ++depth) forward_depth(depth);
  return h_;
}

void CifgCell::forward_depth(std::int64_t depth) {
  const std::int64_t e = w_.embedding, u = w_.units;
  const std::int64_t begin = tree_.depth_begin[depth], rows = tree_.depth_begin[depth + 1] - begin;
  parallel_for(blocks_, [&](std::int64_t block) {
    const std::int64_t from = block * width_, n = std::min(width_, u - from);
    if (depth > 0) {
      const std::int64_t inner = tree_.inner_begin[depth - 1], count = tree_.inner_begin[depth] - inner;
      for (std::int64_t gate = from; gate < 3 * u; gate += u)
        gemm(CblasNoTrans, CblasTrans, count, n, e, 1, inner_h_ + inner * e, e, w_.weight_hh + gate * e, e, 0,
             recurrent_gates_ + inner * 3 * u + gate, 3 * u);
    }
    for (std::int64_t r = begin; r < begin + rows; ++r) {
      const float* recurrent = depth > 0 ? recurrent_gates_ + 3 * u * tree_.parent_inner[r] + from : zeros_;
      const float* c_before = depth > 0 ? c_ + tree_.parent[r] * u + from : zeros_;
      gates_forward(n, u, input_gates_ + 3 * u * tree_.slot[r] + from, recurrent, w_.bias + from, c_before,
                    gates_ + r * 3 * u + from, c_ + r * u + from, tanh_c_ + r * u + from, y_ + r * u + from);
    }
    gemm(CblasNoTrans, CblasTrans, rows, e, n, 1, y_ + begin * u + from, u, w_.projection + from, u, 0,
         parts_ + block * rows * e, e);
  });
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < e; ++j) {
      float sum = w_.projection_bias[j];
      for (std::int64_t block = 0; block < blocks_; ++block) sum += parts_[(block * rows + r) * e + j];
      h_[(begin + r) * e + j] = sum;
    }
  for (std::int64_t i = tree_.inner_begin[depth]; i < tree_.inner_begin[depth + 1]; ++i)
    std::copy_n(h_ + tree_.inner_row[i] * e, e, inner_h_ + i * e);
}

void CifgCell::backward(float* d_h, const CellGradient& gradient) {
  const std::int64_t e = w_.embedding, u = w_.units;
  const std::int64_t slots = tree_.slots(), inner = tree_.inner(), rows = tree_.rows();
  d_y_ = workspace_.d_y.floats(rows * u);
  // One spare row takes what <S> would pass on to a predecessor.
  d_c_ = workspace_.d_c.floats((inner + 1) * u);
  d_recurrent_gates_ = workspace_.d_recurrent_gates.floats((inner + 1) * 3 * u);
  d_input_gates_ = workspace_.d_input_gates.floats(slots * 3 * u);
  zero(d_c_, (inner + 1) * u);
  zero(d_recurrent_gates_, (inner + 1) * 3 * u);
  zero(d_input_gates_, slots * 3 * u);
  for (std::int64_t depth = tree_.depths() - 1; depth >= 0; --depth) backward_depth(depth, d_h);

  if (gradient.token_embedding) {  // before weight_ih changes, which may be the weight itself
    constexpr std::int64_t kRows = 64;
    float* d_inputs = workspace_.d_inputs.floats(slots * e);
    parallel_for((slots + kRows - 1) / kRows, [&](std::int64_t block) {
      const std::int64_t from = block * kRows, n = std::min(kRows, slots - from);
      gemm(CblasNoTrans, CblasNoTrans, n, e, 3 * u, static_cast<float>(gradient.scale),
           d_input_gates_ + from * 3 * u, 3 * u, w_.weight_ih, e, 0, d_inputs + from * e, e);
    });
    for (std::int64_t s = 0; s < slots; ++s)
      for (std::int64_t j = 0; j < e; ++j)
        gradient.token_embedding[tree_.slot_token[s] * e + j] += d_inputs[s * e + j];
  }
  if (gradient.projection_bias) add_column_sums(d_h, rows, e, e, gradient.scale, gradient.projection_bias);
  const float scale = static_cast<float>(gradient.scale);
  parallel_for(blocks_, [&](std::int64_t block) {
    const std::int64_t from = block * width_, n = std::min(width_, u - from);
    for (std::int64_t gate = from; gate < 3 * u; gate += u) {
      if (gradient.weight_ih)
        gemm(CblasTrans, CblasNoTrans, n, e, slots, scale, d_input_gates_ + gate, 3 * u, inputs_, e, 1,
             gradient.weight_ih + gate * e, e);
      if (gradient.weight_hh && inner > 0)
        gemm(CblasTrans, CblasNoTrans, n, e, inner, scale, d_recurrent_gates_ + gate, 3 * u, inner_h_, e, 1,
             gradient.weight_hh + gate * e, e);
      if (gradient.bias)
        add_column_sums(d_input_gates_ + gate, slots, 3 * u, n, gradient.scale, gradient.bias + gate);
    }
    if (gradient.projection)
      gemm(CblasTrans, CblasNoTrans, e, n, rows, scale, d_h, e, y_ + from, u, 1, gradient.projection + from,
           u);
  });
}

void CifgCell::backward_depth(std::int64_t depth, float* d_h) {
  const std::int64_t e = w_.embedding, u = w_.units;
  const std::int64_t begin = tree_.depth_begin[depth], rows = tree_.depth_begin[depth + 1] - begin;
  const std::int64_t before = depth > 0 ? tree_.inner_begin[depth - 1] : 0;
  const std::int64_t before_count = depth > 0 ? tree_.inner_begin[depth] - before : 0;
  parallel_for(blocks_, [&](std::int64_t block) {
    const std::int64_t from = block * width_, n = std::min(width_, u - from);
    gemm(CblasNoTrans, CblasNoTrans, rows, n, e, 1, d_h + begin * e, e, w_.projection + from, u, 0,
         d_y_ + begin * u + from, u);
    std::int64_t inner = tree_.inner_begin[depth];
    for (std::int64_t r = begin; r < begin + rows; ++r) {
      const bool read_on = inner < tree_.inner_begin[depth + 1] && tree_.inner_row[inner] == r;
      const float* d_c = read_on ? d_c_ + inner * u + from : zeros_;
      if (read_on) ++inner;
      const std::int64_t parent = depth > 0 ? tree_.parent_inner[r] : tree_.inner();
      gates_backward(n, u, d_y_ + r * u + from, d_c, gates_ + r * 3 * u + from, tanh_c_ + r * u + from,
                     depth > 0 ? c_ + tree_.parent[r] * u + from : zeros_,
                     d_input_gates_ + 3 * u * tree_.slot[r] + from,
                     d_recurrent_gates_ + parent * 3 * u + from, d_c_ + parent * u + from);
    }
    float beta = 0;
    for (std::int64_t gate = from; before_count > 0 && gate < 3 * u; gate += u, beta = 1)
      gemm(CblasNoTrans, CblasNoTrans, before_count, e, n, 1, d_recurrent_gates_ + before * 3 * u + gate,
           3 * u, w_.weight_hh + gate * e, e, beta, parts_ + block * before_count * e, e);
  });
  for (std::int64_t i = 0; i < before_count; ++i)
    for (std::int64_t j = 0; j < e; ++j) {
      float sum = 0;
      for (std::int64_t block = 0; block < blocks_; ++block)
        sum += parts_[(block * before_count + i) * e + j];
      d_h[tree_.inner_row[before + i] * e + j] += sum;
    }
}

void read_token(const CellWeights& weights, std::span<const Token> tokens, const float* h_before,
                const float* c_before, float* h, float* c) {
  constexpr std::int64_t kRows = 64;
  const std::int64_t e = weights.embedding, u = weights.units,
                     total = static_cast<std::int64_t>(tokens.size());
  parallel_for((total + kRows - 1) / kRows, [&](std::int64_t block) {
    thread_local Buffer inputs_buffer, gates_buffer, y_buffer, spare_buffer;
    const std::int64_t first = block * kRows, n = std::min(kRows, total - first);
    float* inputs = inputs_buffer.floats(kRows * e);    // (n, E)
    float* gates = gates_buffer.floats(kRows * 3 * u);  // (n, 3U)
    float* y = y_buffer.floats(kRows * u);              // (n, U)
    float* spare = spare_buffer.floats(7 * u);  // gates and tanh c of a row, which nobody keeps; zeros
    float* zeros = spare + 4 * u;
    zero(zeros, 3 * u);
    for (std::int64_t r = 0; r < n; ++r)
      std::copy_n(weights.token_embedding + tokens[first + r] * e, e, inputs + r * e);
    gemm(CblasNoTrans, CblasTrans, n, 3 * u, e, 1, inputs, e, weights.weight_ih, e, 0, gates, 3 * u);
    gemm(CblasNoTrans, CblasTrans, n, 3 * u, e, 1, h_before + first * e, e, weights.weight_hh, e, 1, gates,
         3 * u);
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t row = (first + r) * u;
      gates_forward(u, u, gates + r * 3 * u, zeros, weights.bias, c_before + row, spare, c + row,
                    spare + 3 * u, y + r * u);
      std::copy_n(weights.projection_bias, e, h + (first + r) * e);
    }
    gemm(CblasNoTrans, CblasTrans, n, e, u, 1, y, u, weights.projection, u, 1, h + first * e, e);
  });
}

}  // namespace undertext
