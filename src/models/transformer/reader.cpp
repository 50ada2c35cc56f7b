#include "models/transformer/reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

void add_to(std::vector<float>& to, const std::vector<float>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

float dot(const float* a, const float* b, std::int64_t n) {
  float lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::int64_t l = 0; l < 8; ++l) lanes[l] += a[i + l] * b[i + l];
  for (; i < n; ++i) lanes[0] += a[i] * b[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

TransformerReader::TransformerReader(std::shared_ptr<const Transformer> model, bool keep_last_block,
                                     std::int64_t blocks)
    : model_(std::move(model)), weights_(model_->weights()), keep_last_block_(keep_last_block) {
  UNDERTEXT_CHECK(model_->config().causal && blocks <= model_->config().layers);
  if (blocks > 0) weights_.layers.resize(static_cast<std::size_t>(blocks));
  UNDERTEXT_CHECK(!keep_last_block || (model_->config().norm_first && model_->config().layers > 0));
}

TransformerReader::LastBlock TransformerReader::last_block(StateId state) const {
  UNDERTEXT_CHECK(keep_last_block_);
  const float* row = last_block_.data() + state * last_block_width();
  return {row, row + width(), row + 3 * width(), row + 2 * width()};
}

// One query per prefix, over all tokens of the prefix. qkv: (n, 3 D); out: (n, D).
void TransformerReader::attend(std::size_t layer, const std::vector<NodeLine>& lines, const float* qkv,
                               float* out) const {
  const TransformerConfig& config = model_->config();
  const std::int64_t d = config.width, w = config.head_width();
  const auto at = static_cast<std::int64_t>(layer) * 2 * d;
  parallel_for(static_cast<std::int64_t>(lines.size()), [&](std::int64_t i) {
    const NodeLine& line = lines[static_cast<std::size_t>(i)];
    std::vector<float> weight(line.size());
    for (std::int64_t head = 0; head < config.heads; ++head) {
      const float* q = qkv + i * 3 * d + head * w;
      float* y = out + i * d + head * w;
      float maximum = -INFINITY;
      for (std::size_t t = 0; t < line.size(); ++t) {
        weight[t] = weights_.layers[layer].attention_scale * dot(q, line[t]->kv.data() + at + head * w, w);
        maximum = std::max(maximum, weight[t]);
      }
      float total = 0;
      for (float& value : weight) total += value = std::exp(value - maximum);
      std::fill_n(y, w, 0.0f);
      for (std::size_t t = 0; t < line.size(); ++t) {
        const float share = weight[t] / total;
        const float* v = line[t]->kv.data() + at + d + head * w;
        for (std::int64_t j = 0; j < w; ++j) y[j] += share * v[j];
      }
    }
  });
}

StateId TransformerReader::extend(std::span<const StateId> states, std::span<const Token> tokens) {
  UNDERTEXT_CHECK(states.size() == tokens.size());
  const TransformerConfig& config = model_->config();
  const auto n = static_cast<std::int64_t>(states.size());
  const std::int64_t d = config.width, f = config.inner;
  const auto first = static_cast<StateId>(nodes_.size());
  const auto size = [n](std::int64_t columns) { return static_cast<std::size_t>(n * columns); };

  std::vector<NodeLine> lines(states.size());
  std::vector<float> x(size(d));
  for (std::int64_t i = 0; i < n; ++i) {
    const StateId from = states[static_cast<std::size_t>(i)];
    const Token token = tokens[static_cast<std::size_t>(i)];
    UNDERTEXT_CHECK(from < first + i && token >= 0 && token < config.vocabulary);
    const auto node = std::make_shared<Node>();
    if (from >= 0) node->before = nodes_[static_cast<std::size_t>(from)];
    node->place = node->before ? node->before->place + 1 : 0;
    UNDERTEXT_CHECK(node->place < config.positions);
    node->kv.resize(weights_.layers.size() * static_cast<std::size_t>(2 * d));
    NodeLine& line = lines[static_cast<std::size_t>(i)];
    for (const Node* at = node.get(); at; at = at->before.get()) line.push_back(at);
    std::ranges::reverse(line);
    for (std::int64_t j = 0; j < d; ++j)
      x[static_cast<std::size_t>(i * d + j)] =
          weights_.token_embedding[token * d + j] + weights_.position_embedding[node->place * d + j];
    nodes_.push_back(node);
  }

  std::vector<float> normed(size(d)), qkv(size(3 * d)), attended(size(d)), part(size(d)), wide(size(f));
  std::vector<float> statistics(size(2));
  const bool before = config.norm_first;
  if (keep_last_block_) last_block_.resize(nodes_.size() * static_cast<std::size_t>(last_block_width()));
  // Keeps a part of the last block of every new state, `at` numbers into its row.
  const auto keep_part = [&](std::size_t layer, const std::vector<float>& rows, std::int64_t columns,
                             std::int64_t at) {
    if (!keep_last_block_ || layer + 1 < weights_.layers.size()) return;
    for (std::int64_t i = 0; i < n; ++i)
      std::copy_n(rows.data() + i * columns, columns,
                  last_block_.data() + (first + i) * last_block_width() + at);
  };
  for (std::size_t l = 0; l < weights_.layers.size(); ++l) {
    const LayerWeights& layer = weights_.layers[l];
    if (before) layer_norm(layer.norm1, x.data(), n, normed.data(), statistics.data());
    std::int64_t column = 0;
    for (const Linear& projection : layer.qkv) {
      linear(projection, before ? normed.data() : x.data(), n, qkv.data() + column, 3 * d);
      column += projection.out;
    }
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(
          nodes_[static_cast<std::size_t>(first + i)]->kv.data() + l * 2 * static_cast<std::size_t>(d),
          qkv.data() + i * 3 * d + d, static_cast<std::size_t>(2 * d) * sizeof(float));
    attend(l, lines, qkv.data(), attended.data());
    keep_part(l, attended, d, 0);
    linear(layer.attention, attended.data(), n, part.data(), d);
    add_to(x, part);
    keep_part(l, x, d, d);
    if (!before) layer_norm(layer.norm1, x.data(), n, x.data(), statistics.data());
    if (before) layer_norm(layer.norm2, x.data(), n, normed.data(), statistics.data());
    linear(layer.inner, before ? normed.data() : x.data(), n, wide.data(), f);
    keep_part(l, wide, f, 3 * d);
    activate(config.activation, wide.data(), wide.data(), n * f);
    linear(layer.outer, wide.data(), n, part.data(), d);
    add_to(x, part);
    keep_part(l, x, d, 2 * d);
    if (!before) layer_norm(layer.norm2, x.data(), n, x.data(), statistics.data());
  }
  if (weights_.final_norm.weight) layer_norm(weights_.final_norm, x.data(), n, x.data(), statistics.data());
  h_.insert(h_.end(), x.begin(), x.end());
  return first;
}

void TransformerReader::clear() {
  nodes_.clear();
  h_.clear();
  last_block_.clear();
}

void TransformerReader::keep(std::span<const StateId> states) {
  std::size_t to = 0;
  for (const StateId from : states) {
    const auto at = static_cast<std::size_t>(from);
    UNDERTEXT_CHECK(at >= to && at < nodes_.size());
    nodes_[to] = nodes_[at];
    std::memmove(h_.data() + to * static_cast<std::size_t>(width()), hidden(from),
                 static_cast<std::size_t>(width()) * sizeof(float));
    if (keep_last_block_) {
      const auto row = static_cast<std::size_t>(last_block_width());
      std::memmove(last_block_.data() + to * row, last_block_.data() + at * row, row * sizeof(float));
    }
    ++to;
  }
  nodes_.resize(to);
  h_.resize(to * static_cast<std::size_t>(width()));
  if (keep_last_block_) last_block_.resize(to * static_cast<std::size_t>(last_block_width()));
}

}  // namespace undertext
