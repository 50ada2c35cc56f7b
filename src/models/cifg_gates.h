// One unit of the CIFG cell on the way back.
#pragma once

namespace undertext {

struct GateGradient {
  float f, g, o;   // of the pre-activations
  float c_before;  // of the cell before
};

// t = tanh c. d_y: what is asked of y = o t; d_c: what the words that follow ask of c.
inline GateGradient gate_gradient(float f, float g, float o, float t, float c_before, float d_y, float d_c) {
  const float dc = d_c + d_y * o * (1.0f - t * t);
  return {dc * (c_before - g) * f * (1.0f - f), dc * (1.0f - f) * (1.0f - g * g), d_y * t * o * (1.0f - o),
          dc * f};
}

}  // namespace undertext
