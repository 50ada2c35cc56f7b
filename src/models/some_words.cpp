#include "models/some_words.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "models/gemm.h"

namespace undertext {

SomeWords::SomeWords(const LanguageModel& model, std::span<const Token> words) : bias_(words.size(), 0.0f) {
  const at::Tensor& weight = model.parameters().at(*model.parameter_of(Role::output_weight));
  const auto bias = model.parameter_of(Role::output_bias);
  weight_ = Matrix<float>(static_cast<std::int64_t>(words.size()), weight.size(1));
  for (std::size_t i = 0; i < words.size(); ++i) {
    UNDERTEXT_CHECK(words[i] >= 0 && words[i] < weight.size(0));
    std::copy_n(weight.data_ptr<float>() + words[i] * weight_.cols, weight_.cols,
                weight_.row(static_cast<std::int64_t>(i)));
    if (bias) bias_[i] = model.parameters().at(*bias).data_ptr<float>()[words[i]];
  }
}

Matrix<float> SomeWords::logits(const float* h, std::int64_t n) const {
  Matrix<float> result(n, size());
  parallel_gemm(CblasNoTrans, CblasTrans, n, size(), weight_.cols, 1, h, weight_.cols, weight_.data.data(),
                weight_.cols, 0, result.data.data(), size(), bias_.data());
  return result;
}

}  // namespace undertext
