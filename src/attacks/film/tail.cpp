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

// y = J d for each row, J the norm's way back, or the transpose of it. J is a symmetric matrix times the
// weights of the norm, so the transpose is the way back of a norm without weights, times the weights.
Matrix<float> norm_back(const LayerNorm& norm, const Matrix<float>& x, const Matrix<float>& statistics,
                        const Matrix<float>& d, bool transpose) {
  Matrix<float> y(d.rows, d.cols);
  const std::vector<float> ones(static_cast<std::size_t>(norm.width), 1.0f);
  const LayerNorm bare{norm.width, ones.data(), nullptr, norm.epsilon};
  layer_norm_backward(transpose ? bare : norm, x.data.data(), statistics.data.data(), d.data.data(), d.rows,
                      y.data.data(), false);
  if (transpose)
    parallel_for(y.rows, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < y.cols; ++j) y(i, j) *= norm.weight[j];
    });
  return y;
}

Matrix<float> rows_of(const Matrix<float>& m, std::span<const std::int32_t> rows) {
  Matrix<float> result(static_cast<std::int64_t>(rows.size()), m.cols);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(m.row(rows[i]), m.cols, result.row(static_cast<std::int64_t>(i)));
  return result;
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
  result.likeliest.resize(states.size());
  result.probability.resize(states.size());
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
      const float* greatest = std::max_element(row, row + v);
      const float maximum = *greatest;
      result.likeliest[static_cast<std::size_t>(first + r)] = static_cast<Token>(greatest - row);
      double total = 0;
      for (std::int64_t k = 0; k < v; ++k) row[k] = fast_exp(row[k] - maximum);
      for (std::int64_t k = 0; k < v; ++k) total += row[k];
      const auto factor = static_cast<float>(1 / total);
      for (std::int64_t k = 0; k < v; ++k) row[k] *= factor;
      result.probability[static_cast<std::size_t>(first + r)] = factor;
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
  Matrix<float> by_h(m, d);
  parallel_for(m, [&](std::int64_t i) {
    const float* expected = contexts.expected.row(rows[static_cast<std::size_t>(i)]);
    const float* w = word(tokens[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < d; ++j) by_h(i, j) = expected[j] - w[j];
  });
  TailSteps result;
  result.delta = norm_back(weights_.final_norm, rows_of(contexts.last, rows), rows_of(contexts.final, rows),
                           by_h, false);
  result.inner = through(block_.outer, result.delta, false);
  parallel_for(m, [&](std::int64_t i) {
    float* row = result.inner.row(i);
    const float* slope = contexts.slope.row(rows[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < inner(); ++j) row[j] *= slope[j];
  });
  result.middle = norm_back(block_.norm2, rows_of(contexts.middle, rows), rows_of(contexts.norm2, rows),
                            through(block_.inner, result.inner, false), false);
  for (std::size_t i = 0; i < result.middle.data.size(); ++i) result.middle.data[i] += result.delta.data[i];
  return result;
}

Matrix<float> Tail::back(const TailContexts& contexts, const Matrix<float>& by_delta,
                         const Matrix<float>& by_inner, const Matrix<float>& by_middle) const {
  const std::int64_t n = contexts.size(), d = width(), f = inner();
  Matrix<float> wide(n, f), total(n, d);
  if (by_middle.rows > 0)
    wide = through(block_.inner, norm_back(block_.norm2, contexts.middle, contexts.norm2, by_middle, true),
                   true);
  if (by_middle.rows > 0 || by_inner.rows > 0) {
    parallel_for(n, [&](std::int64_t c) {
      for (std::int64_t j = 0; j < f; ++j)
        wide(c, j) = (wide(c, j) + (by_inner.rows > 0 ? by_inner(c, j) : 0.0f)) * contexts.slope(c, j);
    });
    total = through(block_.outer, wide, true);
  }
  for (const Matrix<float>* part : {&by_delta, &by_middle})
    for (std::size_t i = 0; i < part->data.size(); ++i) total.data[i] += part->data[i];
  return norm_back(weights_.final_norm, contexts.last, contexts.final, total, true);
}

}  // namespace undertext
