#include "models/transformer/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads.h"
#include "models/fast_math.h"
#include "models/gemm.h"

namespace undertext {
namespace {

// One head of one sequence.
class Head {
 public:
  Head(const Attention& attention, const float* qkv, std::int64_t task)
      : attention_(attention), head_(task % attention.heads) {
    const std::int64_t sequence = task / attention.heads;
    first_ = attention.begin[static_cast<std::size_t>(sequence)];
    length_ = attention.begin[static_cast<std::size_t>(sequence) + 1] - first_;
    step_ = 3 * attention.width();
    q_ = qkv + first_ * step_ + head_ * attention.head_width;
    k_ = q_ + attention.width();
    v_ = k_ + attention.width();
  }

  std::int64_t length() const { return length_; }

  // weights: (T, T), softmax over the keys of each query, dropout not applied.
  void weigh(float* weights) const {
    const std::int64_t t = length_, w = attention_.head_width;
    gemm(CblasNoTrans, CblasTrans, t, t, w, attention_.scale, q_, step_, k_, step_, 0, weights, t);
    for (std::int64_t i = 0; i < t; ++i) {
      float* row = weights + i * t;
      const std::int64_t seen = attention_.causal ? i + 1 : t;
      const float maximum = *std::max_element(row, row + seen);
      for (std::int64_t j = 0; j < seen; ++j) row[j] = fast_exp(row[j] - maximum);
      double total = 0;
      for (std::int64_t j = 0; j < seen; ++j) total += row[j];
      const auto factor = static_cast<float>(1 / total);
      for (std::int64_t j = 0; j < seen; ++j) row[j] *= factor;
      std::fill(row + seen, row + t, 0.0f);
    }
  }

  void drop(float* values) const {
    if (!attention_.dropout.acts()) return;
    const std::int64_t t = length_;
    for (std::int64_t i = 0; i < t; ++i)
      for (std::int64_t j = 0; j < t; ++j) values[i * t + j] *= attention_.dropout.factor(place(i, j));
  }

  void forward(float* out, float* weights) const {
    weigh(weights);
    drop(weights);
    const std::int64_t t = length_, w = attention_.head_width, d = attention_.width();
    gemm(CblasNoTrans, CblasNoTrans, t, w, t, 1, weights, t, v_, step_, 0, out + first_ * d + head_ * w, d);
  }

  // weights, d_weights: (T, T) of scratch.
  void backward(const float* d_out, float* d_qkv, float* weights, float* d_weights) const {
    const std::int64_t t = length_, w = attention_.head_width, d = attention_.width();
    const float* dy = d_out + first_ * d + head_ * w;
    float* dq = d_qkv + first_ * step_ + head_ * w;
    float *dk = dq + d, *dv = dk + d;
    weigh(weights);
    gemm(CblasNoTrans, CblasTrans, t, t, w, 1, dy, d, v_, step_, 0, d_weights, t);
    drop(d_weights);
    for (std::int64_t i = 0; i < t; ++i) {
      float *p = weights + i * t, *dp = d_weights + i * t;
      double inner = 0;
      for (std::int64_t j = 0; j < t; ++j) inner += static_cast<double>(p[j]) * dp[j];
      const auto mean = static_cast<float>(inner);
      for (std::int64_t j = 0; j < t; ++j) dp[j] = p[j] * (dp[j] - mean);
    }
    const float s = attention_.scale;
    gemm(CblasNoTrans, CblasNoTrans, t, w, t, s, d_weights, t, k_, step_, 0, dq, step_);
    gemm(CblasTrans, CblasNoTrans, t, w, t, s, d_weights, t, q_, step_, 0, dk, step_);
    drop(weights);
    gemm(CblasTrans, CblasNoTrans, t, w, t, 1, weights, t, dy, d, 0, dv, step_);
  }

 private:
  std::uint64_t place(std::int64_t i, std::int64_t j) const {
    return (static_cast<std::uint64_t>(first_ + i) * static_cast<std::uint64_t>(attention_.heads) +
            static_cast<std::uint64_t>(head_)) *
               0x100000u +
           static_cast<std::uint64_t>(j);
  }

  const Attention& attention_;
  std::int64_t head_, first_ = 0, length_ = 0, step_ = 0;
  const float *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
};

// Calls use(head, scratch) for every head of every sequence; scratch: `squares` times (T, T).
template <typename Use>
void for_heads(const Attention& attention, const float* qkv, std::int64_t squares, Use use) {
  const auto sequences = static_cast<std::int64_t>(attention.begin.size()) - 1;
  parallel_for(sequences * attention.heads, [&](std::int64_t task) {
    const Head head(attention, qkv, task);
    if (head.length() == 0) return;
    thread_local std::vector<float> scratch;
    const auto wanted = static_cast<std::size_t>(squares * head.length() * head.length());
    if (scratch.size() < wanted) scratch.resize(wanted);
    use(head, scratch.data());
  });
}

}  // namespace

void attention(const Attention& attention, const float* qkv, float* out) {
  for_heads(attention, qkv, 1, [&](const Head& head, float* scratch) { head.forward(out, scratch); });
}

void attention_backward(const Attention& attention, const float* qkv, const float* d_out, float* d_qkv) {
  for_heads(attention, qkv, 2, [&](const Head& head, float* scratch) {
    head.backward(d_out, d_qkv, scratch, scratch + head.length() * head.length());
  });
}

}  // namespace undertext
