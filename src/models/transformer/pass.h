// One way through a transformer's layers and back, for sequences of any lengths that lie end to end: no
// padding. Kept for the way back are, of each layer, its inputs, queries, keys and values, what attention
// gave and the feed-forward part before its activation; all else is computed again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/transformer/attention.h"
#include "models/transformer/weights.h"
#include "models/workspace.h"

namespace undertext {

// Sequences end to end: R rows.
struct TokenRows {
  std::vector<Token> token;
  std::vector<std::int64_t> begin = {0};  // sequence s is rows [begin[s], begin[s + 1])

  std::int64_t rows() const { return static_cast<std::int64_t>(token.size()); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  void add(std::span<const Token> sequence);
};

// Where the gradients of parameters go on the way back. x and dy are whole batches, (R, .) or, in the head,
// the rows that were picked.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  // ldy: the distance between rows of dy. weight, bias: the parameters' names.
  virtual void linear(const Linear& layer, const std::string& weight, const std::string& bias, const float* x,
                      const float* dy, std::int64_t ldy, bool in_head) = 0;
  virtual void norm(const LayerNorm& norm, const std::string& weight, const std::string& bias, const float* x,
                    const float* statistics, const float* dy, bool in_head) = 0;
  // d: (R, D), by the sum of token, position and type embedding of each row.
  virtual void embedding(const float* d) = 0;
  // The way back ends after this layer, and before the embedding unless it is 0: nothing below is wanted.
  virtual std::size_t lowest_layer() const { return 0; }
};

struct TransformerWorkspace {
  struct Layer {
    Buffer x, qkv, attended, middle, tail, inner, statistics1, statistics2;
  };
  std::vector<Layer> layers;
  Buffer embedded, embedded_statistics;
  Buffer last, picked, head_inner, head_outer, head_statistics, h;  // from the last layer to the output layer
  Buffer normed, wide, d_wide, d, d_part, d_attended, d_qkv;        // scratch
};

class TransformerPass {
 public:
  // dropout: in training, the seed of what is dropped.
  TransformerPass(const TransformerConfig& config, const TransformerNames& names,
                  const TransformerWeights& weights, const TokenRows& rows, std::optional<Seed> dropout,
                  TransformerWorkspace& workspace);

  // What the output layer sees at each of these rows (ascending): (n, D).
  const float* forward(std::span<const std::int64_t> picked);
  // d_h: (n, D), by what forward() gave. Changed.
  void backward(float* d_h, GradientSink& sink);

 private:
  void embed();
  void layer_forward(std::size_t i, float* out);
  void layer_backward(std::size_t i, float* d, GradientSink& sink);
  void head_forward();
  void head_backward(float* d_h, float* d, GradientSink& sink);
  Attention attention_of(std::size_t layer) const;
  Dropout dropout(std::string_view place, std::size_t layer, double share) const;
  float* activated(std::size_t layer);

  const TransformerConfig& config_;
  const TransformerNames& names_;
  const TransformerWeights& weights_;
  const TokenRows& rows_;
  std::optional<Seed> seed_;
  TransformerWorkspace& work_;
  std::int64_t r_, d_, f_;  // R, D, F
  std::vector<std::int64_t> picked_;
};

}  // namespace undertext
