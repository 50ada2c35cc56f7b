#include "models/transformer/activation.h"

#include <array>
#include <cmath>
#include <utility>

#include "models/fast_math.h"

namespace undertext {
namespace {

constexpr std::array<std::pair<std::string_view, Activation>, 10> kNames = {{
    {"relu", Activation::relu},
    {"gelu", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"quick_gelu", Activation::gelu_sigmoid},
    {"silu", Activation::silu},
    {"tanh", Activation::tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python", Activation::gelu},
    {"swish", Activation::silu},
}};

constexpr float kRootHalf = 0.70710678f;  // 1 / sqrt 2
constexpr float kDensity = 0.39894228f;   // 1 / sqrt(2 pi)
constexpr float kRootTwoOverPi = 0.79788456f;
constexpr float kCubic = 0.044715f;  // of the tanh form of GELU (Hendrycks and Gimpel, 2016)
constexpr float kSigmoidForm = 1.702f;

struct Relu {
  static float value(float x) { return x > 0 ? x : 0.0f; }
  static float slope(float x) { return x > 0 ? 1.0f : 0.0f; }
};

// x Phi(x), Phi by the error function.
struct Gelu {
  static float phi(float x) { return 0.5f * (1.0f + fast_erf(x * kRootHalf)); }
  static float value(float x) { return x * phi(x); }
  static float slope(float x) { return phi(x) + x * kDensity * fast_exp(-0.5f * x * x); }
};

struct GeluTanh {
  static float inside(float x) { return kRootTwoOverPi * (x + kCubic * x * x * x); }
  static float value(float x) { return 0.5f * x * (1.0f + fast_tanh(inside(x))); }
  static float slope(float x) {
    const float t = fast_tanh(inside(x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kRootTwoOverPi * (1.0f + 3.0f * kCubic * x * x);
  }
};

struct GeluSigmoid {
  static float value(float x) { return x * fast_sigmoid(kSigmoidForm * x); }
  static float slope(float x) {
    const float s = fast_sigmoid(kSigmoidForm * x);
    return s + kSigmoidForm * x * s * (1.0f - s);
  }
};

struct Silu {
  static float value(float x) { return x * fast_sigmoid(x); }
  static float slope(float x) {
    const float s = fast_sigmoid(x);
    return s + x * s * (1.0f - s);
  }
};

struct Tanh {
  static float value(float x) { return fast_tanh(x); }
  static float slope(float x) {
    const float t = fast_tanh(x);
    return 1.0f - t * t;
  }
};

template <typename Use>
void with(Activation activation, Use use) {
  switch (activation) {
    case Activation::relu:
      return use(Relu{});
    case Activation::gelu:
      return use(Gelu{});
    case Activation::gelu_tanh:
      return use(GeluTanh{});
    case Activation::gelu_sigmoid:
      return use(GeluSigmoid{});
    case Activation::silu:
      return use(Silu{});
    case Activation::tanh:
      return use(Tanh{});
  }
}

}  // namespace

std::optional<Activation> activation_of(std::string_view name) {
  for (const auto& [known, activation] : kNames)
    if (known == name) return activation;
  return std::nullopt;
}

const char* name_of(Activation activation) {
  for (const auto& [name, known] : kNames)
    if (known == activation) return name.data();  // literals end in a zero
  return "";
}

std::string activation_names() {
  std::string names;
  for (const auto& [name, known] : kNames) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

void activate(Activation activation, const float* x, float* y, std::int64_t n) {
  with(activation, [=](auto f) {
    const float* __restrict in = x;
    float* __restrict out = y;
    for (std::int64_t i = 0; i < n; ++i) out[i] = f.value(in[i]);
  });
}

void multiply_by_slope(Activation activation, const float* x, float* d, std::int64_t n) {
  with(activation, [=](auto f) {
    const float* __restrict in = x;
    float* __restrict out = d;
    for (std::int64_t i = 0; i < n; ++i) out[i] *= f.slope(in[i]);
  });
}

}  // namespace undertext
