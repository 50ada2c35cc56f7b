#include "attacks/decepticons/first_inputs.h"

#include "models/transformer/attention.h"

namespace undertext {
namespace {

Matrix<float> normed(const LayerNorm& norm, const Matrix<float>& x) {
  Matrix<float> y(x.rows, x.cols);
  std::vector<float> statistics(static_cast<std::size_t>(2 * x.rows));
  layer_norm(norm, x.data.data(), x.rows, y.data.data(), statistics.data());
  return y;
}

// Token, position and type, normed where the model does so.
Matrix<float> embedded(const TransformerConfig& config, const TransformerWeights& weights,
                       const TokenRows& rows) {
  const std::int64_t d = config.width;
  Matrix<float> x(rows.rows(), d);
  for (std::size_t s = 0; s + 1 < rows.begin.size(); ++s)
    for (std::int64_t r = rows.begin[s]; r < rows.begin[s + 1]; ++r) {
      const float* token = weights.token_embedding + rows.token[static_cast<std::size_t>(r)] * d;
      const float* position = weights.position_embedding + (r - rows.begin[s]) * d;
      for (std::int64_t j = 0; j < d; ++j)
        x(r, j) = token[j] + position[j] + (weights.type_embedding ? weights.type_embedding[j] : 0);
    }
  return weights.embedding_norm.weight ? normed(weights.embedding_norm, x) : x;
}

}  // namespace

Matrix<float> first_inputs(const Transformer& model, std::span<const Sentence> sequences) {
  const TransformerConfig& config = model.config();
  const TransformerWeights weights = model.weights();
  const LayerWeights& layer = weights.layers.front();
  const std::int64_t d = config.width;
  TokenRows rows;
  for (const Sentence& sequence : sequences) rows.add(sequence);

  const Matrix<float> x = embedded(config, weights, rows);
  const Matrix<float> read = config.norm_first ? normed(layer.norm1, x) : x;
  Matrix<float> qkv(x.rows, 3 * d), attended(x.rows, d), middle(x.rows, d);
  std::int64_t column = 0;
  for (const Linear& part : layer.qkv) {
    linear(part, read.data.data(), x.rows, qkv.data.data() + column, 3 * d);
    column += part.out;
  }
  attention({config.heads, config.head_width(), layer.attention_scale, config.causal, rows.begin, Dropout()},
            qkv.data.data(), attended.data.data());
  linear(layer.attention, attended.data.data(), x.rows, middle.data.data(), d);
  for (std::size_t i = 0; i < middle.data.size(); ++i) middle.data[i] += x.data[i];
  return normed(config.norm_first ? layer.norm2 : layer.norm1, middle);
}

}  // namespace undertext
