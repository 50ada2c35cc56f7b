// exp, sigmoid and tanh for float32 in plain arithmetic, so that the compiler turns the loops that call them
// into vector code (libm's own are calls, one number at a time). Relative error below 3e-7 everywhere, which
// tests/models/fast_math_test.cpp checks over the whole range. NaN stays NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace undertext {

// a * b + c in one instruction where the machine has it; std::fma would be a slow call where it has not.
inline float multiply_add(float a, float b, float c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

// exp(x) for x clamped to [-87, 88]: never denormal, never infinite.
inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  // x = n ln 2 + r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer, left in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = multiply_add(x, 1.44269504f, kRound);
  const float n = shifted - kRound;
  float r = multiply_add(n, -0.693359375f, x);  // ln 2 in two parts, the first with few bits
  r = multiply_add(n, 2.12194440e-4f, r);
  // exp(r) = 1 + r + r^2 q(r), q fitted at Chebyshev nodes: error 8e-9.
  float q = 0.00139337332f;
  q = multiply_add(q, r, 0.00836323538f);
  q = multiply_add(q, r, 0.0416664642f);
  q = multiply_add(q, r, 0.166665766f);
  q = multiply_add(q, r, 0.500000001f);
  const float p = multiply_add(q, r * r, r) + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u;
  return p * std::bit_cast<float>(exponent);
}

inline float fast_sigmoid(float x) {
  return 1.0f / (1.0f + fast_exp(-x));
}

inline float fast_tanh(float x) {
  const float a = std::fabs(x);
  const float large = 1.0f - 2.0f / (1.0f + fast_exp(2.0f * a));
  // Near zero the difference above cancels: tanh(x) = x + x z q(z), z = x^2, error 4e-9 for |x| < 0.55.
  const float z = a * a;
  float q = -0.00661575469f;
  q = multiply_add(q, z, 0.0213127445f);
  q = multiply_add(q, z, -0.0539100665f);
  q = multiply_add(q, z, 0.133331176f);
  q = multiply_add(q, z, -0.33333332f);
  const float small = multiply_add(q, z * a, a);
  return std::copysign(a < 0.55f ? small : large, x);
}

// Formula 7.1.26 of Abramowitz and Stegun (1964): absolute error below 1.5e-7, which is what x Phi(x) needs.
inline float fast_erf(float x) {
  const float a = std::fabs(x);
  const float t = 1.0f / multiply_add(0.3275911f, a, 1.0f);
  float q = 1.061405429f;
  q = multiply_add(q, t, -1.453152027f);
  q = multiply_add(q, t, 1.421413741f);
  q = multiply_add(q, t, -0.284496736f);
  q = multiply_add(q, t, 0.254829592f);
  return std::copysign(1.0f - q * t * fast_exp(-a * a), x);
}

}  // namespace undertext
