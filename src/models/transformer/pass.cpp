#include "models/transformer/pass.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::int64_t kBlock = 1 << 14;  // numbers of one piece of work

// Calls body(first, last) for pieces of [0, n) on all threads.
template <typename Body>
void in_blocks(std::int64_t n, Body body) {
  parallel_for((n + kBlock - 1) / kBlock,
               [&](std::int64_t block) { body(block * kBlock, std::min(n, (block + 1) * kBlock)); });
}

// to += from.
void add_to(float* to, const float* from, std::int64_t n) {
  in_blocks(n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) to[i] += from[i];
  });
}

void copy(float* to, const float* from, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

}  // namespace

void TokenRows::add(std::span<const Token> sequence) {
  token.insert(token.end(), sequence.begin(), sequence.end());
  begin.push_back(rows());
}

TransformerPass::TransformerPass(const TransformerConfig& config, const TransformerNames& names,
                                 const TransformerWeights& weights, const TokenRows& rows,
                                 std::optional<Seed> dropout, TransformerWorkspace& workspace)
    : config_(config),
      names_(names),
      weights_(weights),
      rows_(rows),
      seed_(dropout),
      work_(workspace),
      r_(rows.rows()),
      d_(config.width),
      f_(config.inner) {
  UNDERTEXT_CHECK(r_ > 0);
  work_.layers.resize(weights.layers.size());
}

Dropout TransformerPass::dropout(std::string_view place, std::size_t layer, double share) const {
  return seed_ && share > 0 ? Dropout(share, seed_->derive(place).derive(layer)) : Dropout();
}

Attention TransformerPass::attention_of(std::size_t layer) const {
  return {config_.heads,  config_.head_width(), weights_.layers[layer].attention_scale,
          config_.causal, rows_.begin,          dropout("attention", layer, config_.attention_dropout)};
}

void TransformerPass::embed() {
  float* x = work_.layers.empty() ? work_.last.floats(r_ * d_) : work_.layers[0].x.floats(r_ * d_);
  for (std::int64_t s = 0; s < rows_.sequences(); ++s) {
    const auto at = static_cast<std::size_t>(s);
    UNDERTEXT_CHECK(rows_.begin[at + 1] - rows_.begin[at] <= config_.positions);
    for (std::int64_t r = rows_.begin[at]; r < rows_.begin[at + 1]; ++r) {
      const Token token = rows_.token[static_cast<std::size_t>(r)];
      UNDERTEXT_CHECK(token >= 0 && token < config_.vocabulary);
      const float* word = weights_.token_embedding + token * d_;
      const float* position = weights_.position_embedding + (r - rows_.begin[at]) * d_;
      float* out = x + r * d_;
      for (std::int64_t j = 0; j < d_; ++j) out[j] = word[j] + position[j];
      if (weights_.type_embedding)  // all tokens are of the first type
        for (std::int64_t j = 0; j < d_; ++j) out[j] += weights_.type_embedding[j];
    }
  }
  if (weights_.embedding_norm.weight) {
    float* sums = work_.embedded.floats(r_ * d_);
    copy(sums, x, r_ * d_);
    layer_norm(weights_.embedding_norm, sums, r_, x, work_.embedded_statistics.floats(2 * r_));
  }
  dropout("embedding", 0, config_.embedding_dropout).apply(x, r_ * d_);
}

// act(inner) of a layer: (R, F).
float* TransformerPass::activated(std::size_t layer) {
  const float* inner = work_.layers[layer].inner.floats(r_ * f_);
  float* wide = work_.wide.floats(r_ * f_);
  in_blocks(r_ * f_, [=, this](std::int64_t first, std::int64_t last) {
    activate(config_.activation, inner + first, wide + first, last - first);
  });
  return wide;
}

void TransformerPass::layer_forward(std::size_t i, float* out) {
  const LayerWeights& weights = weights_.layers[i];
  TransformerWorkspace::Layer& kept = work_.layers[i];
  const bool before = config_.norm_first;
  const float* x = kept.x.floats(r_ * d_);
  float* normed = work_.normed.floats(r_ * d_);
  float* statistics1 = kept.statistics1.floats(2 * r_);
  float* statistics2 = kept.statistics2.floats(2 * r_);

  if (before) layer_norm(weights.norm1, x, r_, normed, statistics1);
  float* qkv = kept.qkv.floats(r_ * 3 * d_);
  std::int64_t column = 0;
  for (const Linear& part : weights.qkv) {
    linear(part, before ? normed : x, r_, qkv + column, 3 * d_);
    column += part.out;
  }
  float* attended = kept.attended.floats(r_ * d_);
  attention(attention_of(i), qkv, attended);
  float* middle = kept.middle.floats(r_ * d_);
  linear(weights.attention, attended, r_, middle, d_);
  dropout("attended", i, config_.residual_dropout).apply(middle, r_ * d_);
  add_to(middle, x, r_ * d_);

  layer_norm(before ? weights.norm2 : weights.norm1, middle, r_, normed, before ? statistics2 : statistics1);
  linear(weights.inner, normed, r_, kept.inner.floats(r_ * f_), f_);
  float* tail = before ? out : kept.tail.floats(r_ * d_);
  linear(weights.outer, activated(i), r_, tail, d_);
  dropout("outer", i, config_.residual_dropout).apply(tail, r_ * d_);
  add_to(tail, before ? middle : normed, r_ * d_);
  if (!before) layer_norm(weights.norm2, tail, r_, out, statistics2);
}

void TransformerPass::head_forward() {
  const auto n = static_cast<std::int64_t>(picked_.size());
  const float* last = work_.last.floats(r_ * d_);
  float* rows = work_.picked.floats(n * d_);
  float* h = work_.h.floats(n * d_);
  for (std::int64_t i = 0; i < n; ++i)
    copy(rows + i * d_, last + picked_[static_cast<std::size_t>(i)] * d_, d_);
  float* statistics = work_.head_statistics.floats(2 * n);
  if (weights_.head.weight) {
    float* inner = work_.head_inner.floats(n * d_);
    float* outer = work_.head_outer.floats(n * d_);
    linear(weights_.head, rows, n, inner, d_);
    in_blocks(n * d_, [=, this](std::int64_t first, std::int64_t end) {
      activate(config_.activation, inner + first, outer + first, end - first);
    });
    layer_norm(weights_.head_norm, outer, n, h, statistics);
  } else if (weights_.final_norm.weight) {
    layer_norm(weights_.final_norm, rows, n, h, statistics);
  } else {
    copy(h, rows, n * d_);
  }
}

const float* TransformerPass::forward(std::span<const std::int64_t> picked) {
  picked_.assign(picked.begin(), picked.end());
  embed();
  for (std::size_t i = 0; i < weights_.layers.size(); ++i)
    layer_forward(i, i + 1 < weights_.layers.size() ? work_.layers[i + 1].x.floats(r_ * d_)
                                                    : work_.last.floats(r_ * d_));
  head_forward();
  return work_.h.floats(static_cast<std::int64_t>(picked_.size()) * d_);
}

void TransformerPass::head_backward(float* d_h, float* d, GradientSink& sink) {
  const auto n = static_cast<std::int64_t>(picked_.size());
  const float* rows = work_.picked.floats(n * d_);
  const float* statistics = work_.head_statistics.floats(2 * n);
  float* d_rows = d_h;
  if (weights_.head.weight) {
    const float* inner = work_.head_inner.floats(n * d_);
    const float* outer = work_.head_outer.floats(n * d_);
    sink.norm(weights_.head_norm, names_.head_norm_weight, names_.head_norm_bias, outer, statistics, d_h,
              true);
    layer_norm_backward(weights_.head_norm, outer, statistics, d_h, n, d_h, false);
    in_blocks(n * d_, [=, this](std::int64_t first, std::int64_t last) {
      multiply_by_slope(config_.activation, inner + first, d_h + first, last - first);
    });
    sink.linear(weights_.head, names_.head_weight, names_.head_bias, rows, d_h, d_, true);
    d_rows = work_.d_part.floats(n * d_);
    linear_backward(weights_.head, d_h, n, d_, d_rows, false);
  } else if (weights_.final_norm.weight) {
    sink.norm(weights_.final_norm, names_.final_norm_weight, names_.final_norm_bias, rows, statistics, d_h,
              true);
    layer_norm_backward(weights_.final_norm, rows, statistics, d_h, n, d_h, false);
  }
  std::fill_n(d, r_ * d_, 0.0f);
  for (std::int64_t i = 0; i < n; ++i)
    copy(d + picked_[static_cast<std::size_t>(i)] * d_, d_rows + i * d_, d_);
}

// d: (R, D), by what the layer gave; afterwards by what it was given.
void TransformerPass::layer_backward(std::size_t i, float* d, GradientSink& sink) {
  const LayerWeights& weights = weights_.layers[i];
  const LayerNames& names = names_.layers[i];
  TransformerWorkspace::Layer& kept = work_.layers[i];
  const bool before = config_.norm_first;
  const std::int64_t n = r_ * d_;
  const float *x = kept.x.floats(n), *middle = kept.middle.floats(n), *attended = kept.attended.floats(n);
  const float *qkv = kept.qkv.floats(3 * n), *inner = kept.inner.floats(r_ * f_);
  const float* statistics1 = kept.statistics1.floats(2 * r_);
  const float* statistics2 = kept.statistics2.floats(2 * r_);
  float *normed = work_.normed.floats(n), *part = work_.d_part.floats(n);

  // The feed-forward part: out = m + drop(act(normed W1) W2), m = middle or normed.
  if (!before) {
    const float* tail = kept.tail.floats(n);
    sink.norm(weights.norm2, names.norm2_weight, names.norm2_bias, tail, statistics2, d, false);
    layer_norm_backward(weights.norm2, tail, statistics2, d, r_, d, false);
  }
  copy(part, d, n);
  dropout("outer", i, config_.residual_dropout).apply(part, n);
  const float* wide = activated(i);
  float* d_wide = work_.d_wide.floats(r_ * f_);
  sink.linear(weights.outer, names.outer_weight, names.outer_bias, wide, part, d_, false);
  linear_backward(weights.outer, part, r_, d_, d_wide, false);
  in_blocks(r_ * f_, [=, this](std::int64_t first, std::int64_t last) {
    multiply_by_slope(config_.activation, inner + first, d_wide + first, last - first);
  });
  const LayerNorm& norm = before ? weights.norm2 : weights.norm1;
  const float* statistics = before ? statistics2 : statistics1;
  const std::string& norm_weight = before ? names.norm2_weight : names.norm1_weight;
  const std::string& norm_bias = before ? names.norm2_bias : names.norm1_bias;
  layer_norm_again(norm, middle, r_, statistics, normed);
  sink.linear(weights.inner, names.inner_weight, names.inner_bias, normed, d_wide, f_, false);
  if (before) {
    linear_backward(weights.inner, d_wide, r_, f_, part, false);
    sink.norm(norm, norm_weight, norm_bias, middle, statistics, part, false);
    layer_norm_backward(norm, middle, statistics, part, r_, d, true);
  } else {
    linear_backward(weights.inner, d_wide, r_, f_, d, true);
    sink.norm(norm, norm_weight, norm_bias, middle, statistics, d, false);
    layer_norm_backward(norm, middle, statistics, d, r_, d, false);
  }

  // Attention: middle = x + drop(attended W).
  copy(part, d, n);
  dropout("attended", i, config_.residual_dropout).apply(part, n);
  sink.linear(weights.attention, names.attention_weight, names.attention_bias, attended, part, d_, false);
  float *d_attended = work_.d_attended.floats(n), *d_qkv = work_.d_qkv.floats(3 * n);
  linear_backward(weights.attention, part, r_, d_, d_attended, false);
  attention_backward(attention_of(i), qkv, d_attended, d_qkv);
  if (before) layer_norm_again(weights.norm1, x, r_, statistics1, normed);
  std::int64_t column = 0;
  for (std::size_t p = 0; p < weights.qkv.size(); ++p) {
    const Linear& projection = weights.qkv[p];
    sink.linear(projection, names.qkv_weight[p], names.qkv_bias[p], before ? normed : x, d_qkv + column,
                3 * d_, false);
    linear_backward(projection, d_qkv + column, r_, 3 * d_, before ? part : d, !before || p > 0);
    column += projection.out;
  }
  if (before) {
    sink.norm(weights.norm1, names.norm1_weight, names.norm1_bias, x, statistics1, part, false);
    layer_norm_backward(weights.norm1, x, statistics1, part, r_, d, true);
  }
}

void TransformerPass::backward(float* d_h, GradientSink& sink) {
  float* d = work_.d.floats(r_ * d_);
  head_backward(d_h, d, sink);
  const std::size_t lowest = sink.lowest_layer();
  for (std::size_t i = weights_.layers.size(); i-- > lowest;) layer_backward(i, d, sink);
  if (lowest > 0) return;
  dropout("embedding", 0, config_.embedding_dropout).apply(d, r_ * d_);
  if (weights_.embedding_norm.weight) {
    const float* sums = work_.embedded.floats(r_ * d_);
    const float* statistics = work_.embedded_statistics.floats(2 * r_);
    sink.norm(weights_.embedding_norm, names_.embedding_norm_weight, names_.embedding_norm_bias, sums,
              statistics, d, false);
    layer_norm_backward(weights_.embedding_norm, sums, statistics, d, r_, d, false);
  }
  sink.embedding(d);
}

}  // namespace undertext
