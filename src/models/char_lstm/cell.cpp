#include "models/char_lstm/cell.h"

#include "models/char_lstm/panels.h"
#include "models/fast_math.h"

namespace undertext {

void gates_forward(const CellRows& cell, float* h) {
  for (std::int64_t r = 0; r < cell.rows; ++r) {
    float* __restrict gates = cell.gates + r * kPanel;
    const float* __restrict c_before = cell.c_before + r * cell.units;
    float* __restrict c = cell.c + r * cell.units;
    float* __restrict tanh_c = cell.tanh_c + r * cell.units;
    float* __restrict out = h + r * cell.units;
    for (std::int64_t l = 0; l < kLanes; ++l) {
      const float i = fast_sigmoid(gates[l]);
      const float f = fast_sigmoid(gates[kLanes + l]);
      const float g = fast_tanh(gates[2 * kLanes + l]);
      const float o = fast_sigmoid(gates[3 * kLanes + l]);
      const float state = multiply_add(f, c_before[l], i * g);
      const float t = fast_tanh(state);
      gates[l] = i;
      gates[kLanes + l] = f;
      gates[2 * kLanes + l] = g;
      gates[3 * kLanes + l] = o;
      c[l] = state;
      tanh_c[l] = t;
      out[l] = o * t;
    }
  }
}

void gates_backward(const CellRows& cell, const float* d_h, std::int64_t ld_h, float* d_c) {
  for (std::int64_t r = 0; r < cell.rows; ++r) {
    float* __restrict gates = cell.gates + r * kPanel;
    const float* __restrict c_before = cell.c_before + r * cell.units;
    const float* __restrict tanh_c = cell.tanh_c + r * cell.units;
    const float* __restrict dh = d_h + r * ld_h;
    float* __restrict dc_row = d_c + r * cell.units;
    for (std::int64_t l = 0; l < kLanes; ++l) {
      const float i = gates[l], f = gates[kLanes + l], g = gates[2 * kLanes + l], o = gates[3 * kLanes + l];
      const float t = tanh_c[l];
      const float dc = dc_row[l] + dh[l] * o * (1.0f - t * t);
      gates[l] = dc * g * i * (1.0f - i);
      gates[kLanes + l] = dc * c_before[l] * f * (1.0f - f);
      gates[2 * kLanes + l] = dc * i * (1.0f - g * g);
      gates[3 * kLanes + l] = dh[l] * t * o * (1.0f - o);
      dc_row[l] = dc * f;
    }
  }
}

}  // namespace undertext
