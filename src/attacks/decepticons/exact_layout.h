// How the state for exact recovery uses a model's width, and what its server can compute from it. Of the D
// entries of what the first feed-forward part reads, before its norm,
//
//   [0, code)                     the sentence code, the same at every place of a sequence
//   [code, code + positions)      the place
//   [code + positions, D)         the token; the last entry (tail) is where losses reach the layers
//
// Tokens and places are rows of sum 0 and one length each, so that every norm of the model is a division by
// one number per sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/decepticons/key.h"
#include "base/matrix.h"
#include "models/transformer/transformer.h"

namespace undertext {

inline constexpr double kRowLength = 10;  // of tokens and of places

// The entries of a width; UserError where it is too narrow.
struct ExactBlocks {
  std::int64_t width = 0, code = 0, positions = 0;

  static ExactBlocks of(const TransformerConfig& config);
  std::int64_t first_position() const { return code; }
  std::int64_t first_token() const { return code + positions; }
  std::int64_t tokens() const { return width - first_token(); }
  std::int64_t tail() const { return width - 1; }
};

// The state, as its server sees it, for the tokens and places that matter.
class ExactState {
 public:
  // ids: the tokens that may occur; length: the places.
  ExactState(const Transformer& model, const DecepticonKey& key, std::vector<Token> ids, std::int64_t length);

  const ExactBlocks& blocks() const { return blocks_; }
  const std::vector<Token>& ids() const { return ids_; }
  std::int64_t length() const { return length_; }
  std::int64_t layers() const { return static_cast<std::int64_t>(edges_.size()); }
  std::int64_t bins() const { return static_cast<std::int64_t>(edges_.front().size()); }
  // The places from which on every place of a sequence has the sequence's own code; before them a place has
  // the code of the places up to it (causal models). 1: all have it.
  std::int64_t window() const { return window_; }

  // Rows of tokens (ids, tokens()) and places (length, positions), of length kRowLength.
  const Matrix<float>& token_rows() const { return token_rows_; }
  const Matrix<float>& position_rows() const { return position_rows_; }
  // What each token adds to the code of a sequence, times the number of tokens that the code is the mean of:
  // (ids, code).
  const Matrix<double>& token_codes() const { return token_codes_; }
  // What the tail of a token's output row is: what its loss weighs.
  double label_weight(Token id) const { return label_weight_[static_cast<std::size_t>(id)]; }
  double mean_label_weight() const { return mean_label_weight_; }

  // Whether the loss at a place is about the token after it.
  bool predicts_next() const { return predicts_next_; }
  // What a token's amount says of the loss at its place, in units of one factor for all: its row was divided
  // by the norm and, where norms come first, so was the loss on its way to it.
  double loss_of(double amount, double divisor) const {
    return norm_first_ ? amount * divisor * divisor : amount * divisor;
  }

  // The norm's divisor for places with this code.
  double deviation(const double* code) const;
  // The part of a layer's measurement that a code brings, undivided.
  double measured_code(std::int64_t layer, const double* code) const;
  // A layer's measurement of a token at a place, where the code's part and the divisor are known.
  double measured(std::int64_t layer, std::int64_t token, std::int64_t position, double code_part,
                  double divisor) const {
    const auto l = static_cast<std::size_t>(layer);
    return (measured_token_[l][static_cast<std::size_t>(token)] +
            measured_position_[l][static_cast<std::size_t>(position)] + code_part) /
           divisor * shrinkage_[l];
  }
  // The bin of a measurement: -1 below the first edge.
  std::int64_t bin_of(std::int64_t layer, double measurement) const;
  double low(std::int64_t layer, std::int64_t bin) const {
    return edges_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(bin)];
  }
  double high(std::int64_t layer, std::int64_t bin) const;

 private:
  ExactBlocks blocks_;
  std::vector<Token> ids_;
  std::int64_t length_, window_;
  double norm_epsilon_;
  bool norm_first_, predicts_next_;
  Matrix<float> token_rows_, position_rows_;
  Matrix<double> token_codes_;
  Matrix<double> probes_code_;                                           // (layers, code)
  std::vector<std::vector<double>> measured_token_, measured_position_;  // by layer
  std::vector<std::vector<double>> edges_;                               // by layer, ascending
  std::vector<double> shrinkage_;                                        // of the norms before each layer
  std::vector<double> label_weight_;                                     // (V)
  double mean_label_weight_ = 0;
};

// The layers whose feed-forward part sees every token's loss: all, but the last of a masked model.
std::int64_t measuring_layers(const TransformerConfig& config);

// The divisor of tokens and places without a code.
double bare_deviation(const TransformerConfig& config);

}  // namespace undertext
