// The non-linear functions between the two halves of a feed-forward part, and their slopes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

enum class Activation { relu, gelu, gelu_tanh, gelu_sigmoid, silu, tanh };

// By the names that configs use (gelu_new and its synonyms: gelu_tanh; quick_gelu: gelu_sigmoid).
std::optional<Activation> activation_of(std::string_view name);
const char* name_of(Activation activation);
std::string activation_names();  // for errors

// y[i] = f(x[i]).
void activate(Activation activation, const float* x, float* y, std::int64_t n);
// d[i] *= f'(x[i]).
void multiply_by_slope(Activation activation, const float* x, float* d, std::int64_t n);

}  // namespace undertext
