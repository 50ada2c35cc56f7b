// Prefixes of a character LSTM: a state is h and c of every layer.
#pragma once

#include "models/char_lstm/char_lstm.h"
#include "models/prefix_reader.h"

namespace undertext {

class CharLstmReader : public PrefixReader {
 public:
  // Reads the model's weights once: later changes of theirs are not seen.
  explicit CharLstmReader(const CharLstm& model)
      : CharLstmReader(model.packed(), model.config().layers, model.config().units) {}
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  const float* hidden(StateId state) const override { return layers_.back().h.data() + state * units_; }
  std::int64_t width() const override { return units_; }
  void clear() override;
  void keep(std::span<const StateId> states) override;
  std::unique_ptr<PrefixReader> fresh() const override {
    return std::unique_ptr<PrefixReader>(
        new CharLstmReader(weights_, static_cast<std::int64_t>(layers_.size()), units_));
  }

 private:
  struct Layer {
    std::vector<float> h, c;  // (states, U)
  };

  CharLstmReader(std::shared_ptr<const PackedWeights> weights, std::int64_t layers, std::int64_t units)
      : weights_(std::move(weights)), units_(units), layers_(static_cast<std::size_t>(layers)) {}
  // New states [first + from, first + from + n) of an extend().
  void read(std::span<const StateId> states, std::span<const Token> tokens, std::int64_t first);

  std::shared_ptr<const PackedWeights> weights_;
  std::int64_t units_;  // U without padding
  std::vector<Layer> layers_;
};

}  // namespace undertext
