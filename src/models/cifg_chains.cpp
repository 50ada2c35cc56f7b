#include "models/cifg_chains.h"

#include <algorithm>
#include <vector>

#include "base/threads.h"
#include "models/cifg_gates.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr std::int64_t kAtOnce = 32;  // sentences of a piece, whose products are made together

void gates_alone(std::int64_t units, const float* __restrict d_y, const float* __restrict gates,
                 const float* __restrict tanh_c, const float* __restrict c_before, float* __restrict d_gates,
                 float* __restrict d_c) {
  for (std::int64_t j = 0; j < units; ++j) {
    const GateGradient d = gate_gradient(gates[j], gates[j + units], gates[j + 2 * units], tanh_c[j],
                                         c_before[j], d_y[j], d_c[j]);
    d_gates[j] = d.f;
    d_gates[j + units] = d.g;
    d_gates[j + 2 * units] = d.o;
    d_c[j] = d.c_before;
  }
}

// Some sentences, the longest first, so that those that have a word at some depth are the first ones.
void backward_piece(const CellWeights& w, const CellStates& states, std::span<const Chain> chains,
                    const ChainGradients& gradients) {
  thread_local Buffer d_h_buffer, d_y_buffer, d_gates_buffer, d_c_buffer, zeros_buffer;
  const std::int64_t e = w.embedding, u = w.units, count = std::ssize(chains);
  float* d_h = d_h_buffer.floats(count * e);              // (sentences, E), from the word after
  float* d_y = d_y_buffer.floats(count * u);              // (sentences, U)
  float* d_gates = d_gates_buffer.floats(count * 3 * u);  // (sentences, 3U)
  float* d_c = d_c_buffer.floats(count * u);              // (sentences, U)
  float* zeros = zeros_buffer.floats(u);
  std::fill_n(zeros, u, 0.0f);
  std::fill_n(d_h, count * e, 0.0f);
  std::fill_n(d_c, count * u, 0.0f);
  std::int64_t there = 0;
  for (std::int64_t t = std::ssize(chains.front().rows) - 1; t >= 0; --t) {
    while (there < count && std::ssize(chains[static_cast<std::size_t>(there)].rows) > t) ++there;
    for (std::int64_t k = 0; k < there; ++k) {
      float* whole = gradients.d_h + (chains[static_cast<std::size_t>(k)].first_word + t) * e;
      for (std::int64_t j = 0; j < e; ++j) d_h[k * e + j] = whole[j] += d_h[k * e + j];
    }
    gemm(CblasNoTrans, CblasNoTrans, there, u, e, 1, d_h, e, w.projection, u, 0, d_y, u);
    for (std::int64_t k = 0; k < there; ++k) {
      const Chain& chain = chains[static_cast<std::size_t>(k)];
      const std::int64_t row = chain.rows[static_cast<std::size_t>(t)];
      const float* c_before = t > 0 ? states.c + chain.rows[static_cast<std::size_t>(t - 1)] * u : zeros;
      gates_alone(u, d_y + k * u, states.gates + row * 3 * u, states.tanh_c + row * u, c_before,
                  d_gates + k * 3 * u, d_c + k * u);
      std::copy_n(d_gates + k * 3 * u, 3 * u, gradients.d_gates + (chain.first_word + t) * 3 * u);
    }
    if (t > 0)
      gemm(CblasNoTrans, CblasNoTrans, there, e, 3 * u, 1, d_gates, 3 * u, w.weight_hh, e, 0, d_h, e);
  }
}

}  // namespace

void backward_alone(const CellWeights& weights, const CellStates& states, std::span<const Chain> chains,
                    const ChainGradients& gradients) {
  std::vector<Chain> sorted;
  for (const Chain& chain : chains)
    if (!chain.rows.empty()) sorted.push_back(chain);
  std::ranges::stable_sort(sorted,
                           [](const Chain& a, const Chain& b) { return a.rows.size() > b.rows.size(); });
  parallel_for((std::ssize(sorted) + kAtOnce - 1) / kAtOnce, [&](std::int64_t piece) {
    const auto first = static_cast<std::size_t>(piece * kAtOnce);
    const std::size_t count = std::min<std::size_t>(kAtOnce, sorted.size() - first);
    backward_piece(weights, states, std::span(sorted).subspan(first, count), gradients);
  });
}

}  // namespace undertext
