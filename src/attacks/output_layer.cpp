#include "attacks/output_layer.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"
#include "federated/observation.h"
#include "models/fast_math.h"

namespace undertext {
namespace {

constexpr std::int64_t kContexts = 32;  // contexts per block of logits

std::string need(const LanguageModel& model, Role role, const char* what) {
  const auto name = model.parameter_of(role);
  if (!name) fail("this model has no {}: the attack reads the output layer's gradient", what);
  return *name;
}

}  // namespace

OutputLayer::OutputLayer(const LanguageModel& model) {
  const at::Tensor w = model.parameters().at(need(model, Role::output_weight, "output weight"));
  const at::Tensor b = model.parameters().at(need(model, Role::output_bias, "output bias"));
  const std::int64_t words = w.size(0), width = w.size(1);
  weight_ = Matrix<float>(words, width + 1);
  const float* from = w.data_ptr<float>();
  const float* bias = b.data_ptr<float>();
  for (std::int64_t k = 0; k < words; ++k) {
    std::copy_n(from + k * width, width, weight_.row(k));
    weight_(k, width) = bias[k];
  }
}

void OutputLayer::softmax(const Matrix<float>& h,
                          const std::function<void(std::int64_t, const float*)>& use) const {
  UNDERTEXT_CHECK(h.cols == width());
  const std::int64_t n = h.rows, v = words(), d = width();
  parallel_for((n + kContexts - 1) / kContexts, [&](std::int64_t block) {
    const std::int64_t from = block * kContexts, size = std::min(kContexts, n - from);
    std::vector<float> logits(static_cast<std::size_t>(size * v));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(size), static_cast<int>(v),
                static_cast<int>(d), 1, h.row(from), static_cast<int>(d), weight_.data.data(),
                static_cast<int>(d), 0, logits.data(), static_cast<int>(v));
    for (std::int64_t i = 0; i < size; ++i) {
      float* p = logits.data() + i * v;
      const float top = *std::max_element(p, p + v);
      double sum = 0;
      for (std::int64_t k = 0; k < v; ++k) p[k] = fast_exp(p[k] - top);
      for (std::int64_t k = 0; k < v; ++k) sum += static_cast<double>(p[k]);
      const float scale = static_cast<float>(1 / sum);
      for (std::int64_t k = 0; k < v; ++k) p[k] *= scale;
      use(from + i, p);
    }
  });
}

Matrix<double> output_gradient(const Observation& observation) {
  const LanguageModel& model = *observation.before;
  const at::Tensor w = summed_gradient(observation, need(model, Role::output_weight, "output weight"));
  const at::Tensor b = summed_gradient(observation, need(model, Role::output_bias, "output bias"));
  const std::int64_t words = w.size(0), width = w.size(1);
  const double epochs = static_cast<double>(std::max<std::int64_t>(1, observation.update.protocol.epochs));
  Matrix<double> g(words, width + 1);
  const double* from = w.data_ptr<double>();
  const double* bias = b.data_ptr<double>();
  for (std::int64_t k = 0; k < words; ++k) {
    for (std::int64_t j = 0; j < width; ++j) g(k, j) = from[k * width + j] / epochs;
    g(k, width) = bias[k] / epochs;
  }
  return g;
}

}  // namespace undertext
