// Reads many prefixes with a causal transformer, one token at a time. Keys and values of a token are kept
// once, however many prefixes begin with it: beams that share a beginning share its cache.
#pragma once

#include <memory>
#include <vector>

#include "models/prefix_reader.h"
#include "models/transformer/transformer.h"

namespace undertext {

class TransformerReader : public PrefixReader {
 public:
  // The model must be causal.
  explicit TransformerReader(std::shared_ptr<const Transformer> model);
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  const float* hidden(StateId state) const override { return h_.data() + state * width(); }
  std::int64_t width() const override { return model_->config().width; }
  void clear() override;
  void keep(std::span<const StateId> states) override;
  std::unique_ptr<PrefixReader> fresh() const override { return std::make_unique<TransformerReader>(model_); }

 private:
  struct Node {
    std::shared_ptr<const Node> before;
    std::int64_t place;     // how many tokens come before
    std::vector<float> kv;  // (L, 2, D): key and value in every layer
  };
  using NodeLine = std::vector<const Node*>;  // a prefix, first token first

  void attend(std::size_t layer, const std::vector<NodeLine>& lines, const float* qkv, float* out) const;

  std::shared_ptr<const Transformer> model_;
  TransformerWeights weights_;
  std::vector<std::shared_ptr<Node>> nodes_;  // of each state
  std::vector<float> h_;                      // (states, D)
};

}  // namespace undertext
