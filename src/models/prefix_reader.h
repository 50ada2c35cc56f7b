// Reads many prefixes one token at a time and keeps their states, so that a search pays for each token once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/cifg_lstm.h"

namespace undertext {

using StateId = std::int32_t;

class PrefixReader {
 public:
  virtual ~PrefixReader() = default;
  // Appends tokens[i] to the prefix states[i] (-1: the empty prefix); new states are numbered consecutively
  // from the returned id.
  virtual StateId extend(std::span<const StateId> states, std::span<const Token> tokens) = 0;
  // What the output layer sees after that prefix: width() numbers.
  virtual const float* hidden(StateId state) const = 0;
  virtual std::int64_t width() const = 0;
  // Forgets all states.
  virtual void clear() = 0;
  // Forgets all states but these (ascending), which are numbered anew from 0 in their order.
  virtual void keep(std::span<const StateId> states) = 0;
  // Another reader of the same model, with no states yet.
  virtual std::unique_ptr<PrefixReader> fresh() const = 0;
};

class CifgReader : public PrefixReader {
 public:
  explicit CifgReader(std::shared_ptr<const CifgLstm> model) : model_(std::move(model)) {}
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  const float* hidden(StateId state) const override { return h_.data() + state * width(); }
  std::int64_t width() const override { return model_->config().embedding; }
  void clear() override;
  void keep(std::span<const StateId> states) override;
  std::unique_ptr<PrefixReader> fresh() const override { return std::make_unique<CifgReader>(model_); }

 private:
  std::shared_ptr<const CifgLstm> model_;
  std::vector<float> h_, c_;  // (states, E) and (states, U)
};

}  // namespace undertext
