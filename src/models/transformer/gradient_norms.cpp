// The norm of each example's gradient from one way back for all. A linear layer's own gradient is
// sum_t x_t dy_t', so its squared norm is sum_{t, u} (x_t . x_u) (dy_t . dy_u): two small Gram matrices of an
// example's T rows instead of a gradient as large as the layer.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/threads.h"
#include "models/fast_math.h"
#include "models/gemm.h"
#include "models/transformer/transformer.h"

namespace undertext {
namespace {

constexpr std::int64_t kRowsAtOnce = 256;  // of logits

// g (n, n) = x x' of n rows, ldx apart.
void gram(const float* x, std::int64_t n, std::int64_t width, std::int64_t ldx, std::vector<float>& g) {
  g.resize(static_cast<std::size_t>(n * n));
  gemm(CblasNoTrans, CblasTrans, n, n, width, 1, x, ldx, x, ldx, 0, g.data(), n);
}

double inner_product(const std::vector<float>& a, const std::vector<float>& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += static_cast<double>(a[i]) * b[i];
  return total;
}

double sum(const std::vector<float>& a) {
  double total = 0;
  for (const float value : a) total += value;
  return total;
}

std::vector<std::string> names_of(const LayerNames& layer) {
  std::vector<std::string> names = {layer.attention_weight, layer.attention_bias, layer.norm1_weight,
                                    layer.norm1_bias,       layer.norm2_weight,   layer.norm2_bias,
                                    layer.inner_weight,     layer.inner_bias,     layer.outer_weight,
                                    layer.outer_bias};
  names.insert(names.end(), layer.qkv_weight.begin(), layer.qkv_weight.end());
  names.insert(names.end(), layer.qkv_bias.begin(), layer.qkv_bias.end());
  return names;
}

class ExampleNorms : public GradientSink {
 public:
  ExampleNorms(const Transformer& model, const TokenRows& rows, std::vector<std::int64_t> picked_begin,
               const std::set<std::string>& wanted)
      : config_(model.config()),
        names_(model.names()),
        rows_(rows),
        picked_begin_(std::move(picked_begin)),
        wanted_(wanted),
        losses_(static_cast<std::size_t>(picked_begin_.back()), 0.0),
        squares_(static_cast<std::size_t>(rows.sequences()), 0.0),
        at_tokens_(squares_.size()) {}

  // h: (n, D) of all predicted places; writes d_h. targets: the words there.
  void output(const TransformerWeights& weights, const float* h, std::span<const Token> targets, float* d_h) {
    h_ = h;
    for (std::size_t first = 0; first < squares_.size();) {
      std::size_t last = first + 1;
      while (last < squares_.size() && picked_begin_[last + 1] - picked_begin_[first] <= kRowsAtOnce) ++last;
      output_block(weights, first, last, targets, d_h);
      first = last;
    }
  }

  void linear(const Linear& layer, const std::string& weight, const std::string& bias, const float* x,
              const float* dy, std::int64_t ldy, bool in_head) override {
    const bool with_weight = wants(weight), with_bias = wants(bias);
    if (!with_weight && !with_bias) return;
    for_examples(in_head, [&](std::size_t e, std::int64_t first, std::int64_t n) {
      std::vector<float> of_x, of_dy;
      gram(dy + first * ldy, n, layer.out, ldy, of_dy);
      if (with_bias) squares_[e] += sum(of_dy);
      if (!with_weight) return;
      gram(x + first * layer.in, n, layer.in, layer.in, of_x);
      squares_[e] += inner_product(of_x, of_dy);
    });
  }

  void norm(const LayerNorm& norm, const std::string& weight, const std::string& bias, const float* x,
            const float* statistics, const float* dy, bool in_head) override {
    const bool with_weight = wants(weight), with_bias = wants(bias);
    if (!with_weight && !with_bias) return;
    for_examples(in_head, [&](std::size_t e, std::int64_t first, std::int64_t n) {
      for (std::int64_t j = 0; j < norm.width; ++j) {
        double dw = 0, db = 0;
        for (std::int64_t r = first; r < first + n; ++r) {
          const double d = dy[r * norm.width + j];
          dw += d * (x[r * norm.width + j] - statistics[2 * r]) * statistics[2 * r + 1];
          db += d;
        }
        squares_[e] += (with_weight ? dw * dw : 0) + (with_bias ? db * db : 0);
      }
    });
  }

  void embedding(const float* d) override {
    const std::int64_t width = config_.width;
    for_examples(false, [&](std::size_t e, std::int64_t first, std::int64_t n) {
      std::vector<float> g;
      gram(d + first * width, n, width, width, g);
      const Token* token = rows_.token.data() + first;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const double product = g[static_cast<std::size_t>(i * n + j)];
          if (wants(names_.token_embedding) && token[i] == token[j]) squares_[e] += product;
          if (wants(names_.position_embedding) && i == j) squares_[e] += product;
          if (!names_.type_embedding.empty() && wants(names_.type_embedding)) squares_[e] += product;
        }
      if (config_.tied && wants(names_.token_embedding))
        squares_[e] += 2 * cross_term(e, d + first * width, n);
    });
  }

  std::size_t lowest_layer() const override {
    if (wanted_.empty()) return 0;
    std::size_t wanted_in_layers = 0, lowest = names_.layers.size();
    for (std::size_t i = names_.layers.size(); i-- > 0;) {
      const auto here = static_cast<std::size_t>(std::ranges::count_if(
          names_of(names_.layers[i]), [&](const std::string& name) { return wanted_.contains(name); }));
      if (here > 0) lowest = i;
      wanted_in_layers += here;
    }
    // Anything else may lie below all layers.
    return wanted_in_layers == wanted_.size() ? lowest : 0;
  }

  std::vector<double> norms() const {
    std::vector<double> result(squares_.size());
    for (std::size_t e = 0; e < squares_.size(); ++e) result[e] = std::sqrt(std::max(0.0, squares_[e]));
    return result;
  }

  double loss(std::size_t e) const {
    return std::accumulate(losses_.begin() + picked_begin_[e], losses_.begin() + picked_begin_[e + 1], 0.0);
  }

 private:
  bool wants(const std::string& name) const { return wanted_.empty() || wanted_.contains(name); }

  template <typename Body>
  void for_examples(bool in_head, Body body) {
    const std::vector<std::int64_t>& begin = in_head ? picked_begin_ : rows_.begin;
    parallel_for(static_cast<std::int64_t>(squares_.size()), [&](std::int64_t i) {
      const auto e = static_cast<std::size_t>(i);
      body(e, begin[e], begin[e + 1] - begin[e]);
    });
  }

  // Examples [from, to), whose logits are held at once.
  void output_block(const TransformerWeights& weights, std::size_t from, std::size_t to,
                    std::span<const Token> targets, float* d_h) {
    const std::int64_t v = config_.vocabulary, d = config_.width;
    const std::int64_t first = picked_begin_[from], n = picked_begin_[to] - first;
    if (n == 0) return;
    float* logits = logits_.floats(n * v);
    std::vector<float> none;
    if (!weights.output_bias) none.assign(static_cast<std::size_t>(v), 0.0f);
    parallel_gemm(CblasNoTrans, CblasTrans, n, v, d, 1, h_ + first * d, d, weights.output_weight, d, 0,
                  logits, v, weights.output_bias ? weights.output_bias : none.data());
    parallel_for(n, [&](std::int64_t r) {
      float* row = logits + r * v;
      const float maximum = *std::max_element(row, row + v);
      const Token target = targets[static_cast<std::size_t>(first + r)];
      const double logit = row[target];
      double total = 0;
      for (std::int64_t k = 0; k < v; ++k) row[k] = fast_exp(row[k] - maximum);
      for (std::int64_t k = 0; k < v; ++k) total += row[k];
      losses_[static_cast<std::size_t>(first + r)] = std::log(total) - (logit - maximum);
      const auto factor = static_cast<float>(1 / total);
      for (std::int64_t k = 0; k < v; ++k) row[k] *= factor;
      row[target] -= 1;
    });
    parallel_gemm(CblasNoTrans, CblasNoTrans, n, d, v, 1, logits, v, weights.output_weight, d, 0,
                  d_h + first * d, d);
    const bool with_weight = wants(names_.output_weight);
    const bool with_bias = !names_.output_bias.empty() && wants(names_.output_bias);
    parallel_for(static_cast<std::int64_t>(to - from), [&](std::int64_t i) {
      const std::size_t e = from + static_cast<std::size_t>(i);
      const std::int64_t begin = picked_begin_[e], count = picked_begin_[e + 1] - begin;
      const float* own = logits + (begin - first) * v;
      std::vector<float> of_logits, of_h;
      if (!with_weight && !with_bias) return;
      gram(own, count, v, v, of_logits);
      if (with_bias) squares_[e] += sum(of_logits);
      if (!with_weight) return;
      gram(h_ + begin * d, count, d, d, of_h);
      squares_[e] += inner_product(of_logits, of_h);
      if (!config_.tied) return;
      const std::int64_t row = rows_.begin[e], length = rows_.begin[e + 1] - row;
      at_tokens_[e].resize(static_cast<std::size_t>(count * length));
      for (std::int64_t p = 0; p < count; ++p)
        for (std::int64_t t = 0; t < length; ++t)
          at_tokens_[e][static_cast<std::size_t>(p * length + t)] =
              own[p * v + rows_.token[static_cast<std::size_t>(row + t)]];
    });
  }

  // The inner product of the two parts of a tied embedding's gradient. The output layer's row of token w is
  // sum_p dl_p(w) h_p, and the embedding's the sum of d_t where w was read.
  double cross_term(std::size_t e, const float* d, std::int64_t n) const {
    const std::int64_t begin = picked_begin_[e], count = picked_begin_[e + 1] - begin, width = config_.width;
    if (count == 0) return 0;
    std::vector<float> products(static_cast<std::size_t>(count * n));  // h_p . d_t
    gemm(CblasNoTrans, CblasTrans, count, n, width, 1, h_ + begin * width, width, d, width, 0,
         products.data(), n);
    return inner_product(products, at_tokens_[e]);
  }

  const TransformerConfig& config_;
  const TransformerNames& names_;
  const TokenRows& rows_;
  std::vector<std::int64_t> picked_begin_;
  const std::set<std::string>& wanted_;
  const float* h_ = nullptr;
  Buffer logits_;
  std::vector<double> losses_;   // per predicted place
  std::vector<double> squares_;  // per example
  // Per example, for a tied embedding's cross term: d loss / d logit, at each predicted place, of each token
  // that was read: (predicted places, T).
  std::vector<std::vector<float>> at_tokens_;
};

}  // namespace

std::vector<double> Transformer::gradient_norms(std::span<const Example> examples,
                                                const std::vector<std::string>& names,
                                                std::vector<double>* losses) const {
  const std::set<std::string> wanted(names.begin(), names.end());
  for (const std::string& name : wanted) UNDERTEXT_CHECK(parameters_.contains(name));
  std::vector<double> result(examples.size(), 0.0);
  if (losses) losses->assign(examples.size(), 0.0);
  const TransformerWeights own = weights();
  Buffer d_h;
  for_pieces(examples, [&](const Piece& piece) {
    TransformerPass pass(config_, names_, own, piece.rows, piece.dropout, pass_workspace());
    const float* h = pass.forward(piece.picked);
    std::vector<std::int64_t> begin = {0};
    for (std::size_t e = 0; e < piece.count; ++e) {
      const auto last = std::ranges::lower_bound(piece.picked, piece.rows.begin[e + 1]);
      begin.push_back(last - piece.picked.begin());
    }
    ExampleNorms norms(*this, piece.rows, begin, wanted);
    float* d = d_h.floats(static_cast<std::int64_t>(piece.picked.size()) * config_.width);
    norms.output(own, h, piece.targets.target, d);
    pass.backward(d, norms);
    std::ranges::copy(norms.norms(), result.begin() + static_cast<std::ptrdiff_t>(piece.first));
    for (std::size_t e = 0; losses && e < piece.count; ++e) (*losses)[piece.first + e] = norms.loss(e);
  });
  return result;
}

}  // namespace undertext
