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
  // What the last block made of a prefix's last token; pointers live until the next call that changes states.
  struct LastBlock {
    const float* attended;  // (D), what attention gave
    const float* middle;    // (D), what the second norm is given
    const float* inner;     // (F), before the activation
    const float* last;      // (D), what the final norm is given
  };

  // The model must be causal. keep_last_block: last_block() can be asked, which needs norms that come first.
  // blocks: how many to go through, the last of which then counts as the last one; 0: all.
  explicit TransformerReader(std::shared_ptr<const Transformer> model, bool keep_last_block = false,
                             std::int64_t blocks = 0);
  LastBlock last_block(StateId state) const;
  // A prefix may also be one that comes earlier in the same call, so that a whole tree is read at once.
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  const float* hidden(StateId state) const override { return h_.data() + state * width(); }
  std::int64_t width() const override { return model_->config().width; }
  void clear() override;
  void keep(std::span<const StateId> states) override;
  std::unique_ptr<PrefixReader> fresh() const override {
    return std::make_unique<TransformerReader>(model_, keep_last_block_, std::ssize(weights_.layers));
  }

 private:
  struct Node {
    std::shared_ptr<const Node> before;
    std::int64_t place;     // how many tokens come before
    std::vector<float> kv;  // (L, 2, D): key and value in every layer that is gone through
  };
  using NodeLine = std::vector<const Node*>;  // a prefix, first token first

  void attend(std::size_t layer, const std::vector<NodeLine>& lines, const float* qkv, float* out) const;

  std::int64_t last_block_width() const { return 3 * width() + model_->config().inner; }

  std::shared_ptr<const Transformer> model_;
  TransformerWeights weights_;
  std::vector<std::shared_ptr<Node>> nodes_;  // of each state
  std::vector<float> h_;                      // (states, D)
  bool keep_last_block_;
  std::vector<float> last_block_;  // (states, 3 D + F): attended, middle, last, inner
};

}  // namespace undertext
