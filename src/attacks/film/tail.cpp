#include "attacks/film/tail.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/threads.h"
#include "models/fast_math.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr std::int64_t kRowsAtOnce = 128;  // of logits

// y = rstd * P (weight * d), P the projection that the norm's backward pass is (layer_norm.h), or its
// transpose y = weight * P (rstd * d), since P is symmetric.
void norm_back(const LayerNorm& norm, const float* x, const float* statistics, const float* d, bool transpose,
               float* y) {
  const std::int64_t n = norm.width;
  const float mean = statistics[0], rstd = statistics[1];
  double sum = 0, slope = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const float g = transpose ? d[j] : d[j] * norm.weight[j];
    y[j] = g;
    sum += g;
    slope += static_cast<double>(g) * (x[j] - mean) * rstd;
  }
  const auto g_mean = static_cast<float>(sum / static_cast<double>(n));
  const auto g_slope = static_cast<float>(slope / static_cast<double>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    y[j] = rstd * (y[j] - g_mean - (x[j] - mean) * rstd * g_slope);
    if (transpose) y[j] *= norm.weight[j];
  }
}

// The gradient by a linear layer's input, or with `transpose` that by its output again: y = x W.
Matrix<float> through(const Linear& layer, const Matrix<float>& d, bool transpose) {
  Matrix<float> y(d.rows, transpose ? layer.out : layer.in);
  const bool by_rows = layer.inputs_first != transpose;  // d times the transpose of the stored matrix
  parallel_gemm(CblasNoTrans, by_rows ? CblasTrans : CblasNoTrans, d.rows, y.cols, d.cols, 1, d.data.data(),
                d.cols, layer.weight, layer.inputs_first ? layer.out : layer.in, 0, y.data.data(), y.cols);
  return y;
}

}  // namespace

Tail::Tail(std::shared_ptr<const Transformer> model)
    : model_(std::move(model)), weights_(model_->weights()), block_(weights_.layers.back()) {
  UNDERTEXT_CHECK(model_->config().norm_first && weights_.final_norm.weight);
}

TailContexts Tail::contexts(const TransformerReader& reader, std::span<const StateId> states) const {
  const auto n = static_cast<std::int64_t>(states.size());
  const std::int64_t d = width(), f = inner(), v = words();
  TailContexts result;
  for (Matrix<float>* part :
       {&result.o, &result.middle, &result.x, &result.last, &result.h, &result.expected})
    *part = Matrix<float>(n, d);
  result.a = result.slope = Matrix<float>(n, f);
  result.norm2 = result.final = Matrix<float>(n, 2);
  result.log_sum.resize(states.size());
  parallel_for(n, [&](std::int64_t i) {
    const StateId state = states[static_cast<std::size_t>(i)];
    const TransformerReader::LastBlock block = reader.last_block(state);
    std::copy_n(block.attended, d, result.o.row(i));
    std::copy_n(block.middle, d, result.middle.row(i));
    std::copy_n(block.last, d, result.last.row(i));
    std::copy_n(reader.hidden(state), d, result.h.row(i));
    layer_norm(block_.norm2, block.middle, 1, result.x.row(i), result.norm2.row(i));
    activate(model_->config().activation, block.inner, result.a.row(i), f);
    std::fill_n(result.slope.row(i), f, 1.0f);
    multiply_by_slope(model_->config().activation, block.inner, result.slope.row(i), f);
    std::vector<float> again(static_cast<std::size_t>(d));
    layer_norm(weights_.final_norm, block.last, 1, again.data(), result.final.row(i));
  });
  Matrix<float> logits(std::min(n, kRowsAtOnce), v);
  for (std::int64_t first = 0; first < n; first += kRowsAtOnce) {
    const std::int64_t rows = std::min(kRowsAtOnce, n - first);
    parallel_gemm(CblasNoTrans, CblasTrans, rows, v, d, 1, result.h.row(first), d, weights_.output_weight, d,
                  0, logits.data.data(), v, weights_.output_bias);
    parallel_for(rows, [&](std::int64_t r) {
      float* row = logits.row(r);
      const float maximum = *std::max_element(row, row + v);
      double total = 0;
      for (std::int64_t k = 0; k < v; ++k) row[k] = fast_exp(row[k] - maximum);
      for (std::int64_t k = 0; k < v; ++k) total += row[k];
      const auto factor = static_cast<float>(1 / total);
      for (std::int64_t k = 0; k < v; ++k) row[k] *= factor;
      result.log_sum[static_cast<std::size_t>(first + r)] = maximum + static_cast<float>(std::log(total));
    });
    parallel_gemm(CblasNoTrans, CblasNoTrans, rows, d, v, 1, logits.data.data(), v, weights_.output_weight, d,
                  0, result.expected.row(first), d);
  }
  return result;
}

TailSteps Tail::steps(const TailContexts& contexts, std::span<const std::int32_t> rows,
                      std::span<const Token> tokens) const {
  const auto m = static_cast<std::int64_t>(rows.size());
  const std::int64_t d = width();
  TailSteps result;
  result.delta = Matrix<float>(m, d);
  parallel_for(m, [&](std::int64_t i) {
    const std::int32_t c = rows[static_cast<std::size_t>(i)];
    std::vector<float> u(static_cast<std::size_t>(d));
    const float* w = word(tokens[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < d; ++j) u[static_cast<std::size_t>(j)] = contexts.expected(c, j) - w[j];
    norm_back(weights_.final_norm, contexts.last.row(c), contexts.final.row(c), u.data(), false,
              result.delta.row(i));
  });
  result.inner = through(block_.outer, result.delta, false);
  parallel_for(m, [&](std::int64_t i) {
    float* row = result.inner.row(i);
    const float* slope = contexts.slope.row(rows[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < inner(); ++j) row[j] *= slope[j];
  });
  result.middle = through(block_.inner, result.inner, false);
  parallel_for(m, [&](std::int64_t i) {
    const std::int32_t c = rows[static_cast<std::size_t>(i)];
    float* row = result.middle.row(i);
    std::vector<float> normed(row, row + d);
    norm_back(block_.norm2, contexts.middle.row(c), contexts.norm2.row(c), normed.data(), false, row);
    for (std::int64_t j = 0; j < d; ++j) row[j] += result.delta(i, j);
  });
  return result;
}

Matrix<float> Tail::back(const TailContexts& contexts, const Matrix<float>& by_delta,
                         const Matrix<float>& by_inner, const Matrix<float>& by_middle) const {
  const std::int64_t n = contexts.size(), d = width(), f = inner();
  Matrix<float> wide(n, f), total(n, d), result(n, d);
  if (by_middle.rows > 0) {
    Matrix<float> normed(n, d);
    parallel_for(n, [&](std::int64_t c) {
      norm_back(block_.norm2, contexts.middle.row(c), contexts.norm2.row(c), by_middle.row(c), true,
                normed.row(c));
    });
    wide = through(block_.inner, normed, true);
  }
  if (by_middle.rows > 0 || by_inner.rows > 0) {
    parallel_for(n, [&](std::int64_t c) {
      for (std::int64_t j = 0; j < f; ++j)
        wide(c, j) = (wide(c, j) + (by_inner.rows > 0 ? by_inner(c, j) : 0.0f)) * contexts.slope(c, j);
    });
    total = through(block_.outer, wide, true);
  }
  parallel_for(n, [&](std::int64_t c) {
    float* row = total.row(c);
    for (const Matrix<float>* part : {&by_delta, &by_middle})
      for (std::int64_t j = 0; j < d && part->rows > 0; ++j) row[j] += (*part)(c, j);
    norm_back(weights_.final_norm, contexts.last.row(c), contexts.final.row(c), row, true, result.row(c));
  });
  return result;
}

}  // namespace undertext
