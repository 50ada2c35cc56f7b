// What a causal transformer does after its last attention, one place at a time, and the way back through it.
//
// After the last block's attention nothing mixes places any more. So what one step of a text, a prefix c and
// the token k that follows it, adds to the gradients of that block's matrices is known to whoever knows c and
// k, in closed form:
//   feed-forward output   a_c (x) delta     delta = J_c (W' p_c - W_k), through the final norm
//   feed-forward input    x_c (x) inner     inner = act'(.) * (W2 delta)
//   attention output      o_c (x) middle    middle = delta + through the second norm (W1 inner)
// and linear in k for a given c.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/matrix.h"
#include "models/transformer/reader.h"

namespace undertext {

// n prefixes as the tail sees them.
struct TailContexts {
  Matrix<float> o, middle, x;      // (n, D): attention's output, sum after it, that sum normed
  Matrix<float> a, slope;          // (n, F): the activations and the slopes there
  Matrix<float> last, h;           // (n, D): before and after the final norm
  Matrix<float> norm2, final;      // (n, 2): mean and 1 / deviation
  Matrix<float> expected;          // (n, D): W' p_c
  std::vector<float> log_sum;      // (n): logarithm of the sum of exp(logits)
  std::vector<Token> likeliest;    // (n): what the model expects next
  std::vector<float> probability;  // (n): of that

  std::int64_t size() const { return h.rows; }
};

// Right sides of the three dyads, one row per step.
struct TailSteps {
  Matrix<float> delta, inner, middle;  // (m, D), (m, F), (m, D)
};

class Tail {
 public:
  explicit Tail(std::shared_ptr<const Transformer> model);

  std::int64_t width() const { return model_->config().width; }
  std::int64_t inner() const { return model_->config().inner; }
  std::int64_t words() const { return model_->config().vocabulary; }
  const Transformer& model() const { return *model_; }
  const float* word(Token k) const { return weights_.output_weight + k * width(); }

  float bias(Token k) const { return weights_.output_bias ? weights_.output_bias[k] : 0.0f; }
  const float* final_norm_weight() const { return weights_.final_norm.weight; }

  // reader: of the same model, keeping last blocks.
  TailContexts contexts(const TransformerReader& reader, std::span<const StateId> states) const;
  // Steps from contexts[rows[i]] to tokens[i].
  TailSteps steps(const TailContexts& contexts, std::span<const std::int32_t> rows,
                  std::span<const Token> tokens) const;
  // The transpose: of numbers by the three right sides, those by W' p_c - W_k, for each context: (n, D).
  // Empty parts count as zero.
  Matrix<float> back(const TailContexts& contexts, const Matrix<float>& by_delta,
                     const Matrix<float>& by_inner, const Matrix<float>& by_middle) const;

 private:
  std::shared_ptr<const Transformer> model_;
  TransformerWeights weights_;
  const LayerWeights& block_;
};

}  // namespace undertext
