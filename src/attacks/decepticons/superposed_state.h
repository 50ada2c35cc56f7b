// What the server of the paper's state can compute of it. There tokens and places share their entries, and
// all layers measure by one probe, each its own part of the bins:
//
//   [0, code)           the sentence code: a part of the sequence's first token
//   [code, D - 1)       token and place, added
//   D - 1               the same, and what the feed-forward parts write; not measured
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/decepticons/key.h"
#include "base/matrix.h"
#include "models/transformer/transformer.h"

namespace undertext {

class SuperposedState {
 public:
  // ids: the tokens that may occur; length: the places. The model is of the plain kind.
  SuperposedState(const Transformer& model, const DecepticonKey& key, std::vector<Token> ids,
                  std::int64_t length);

  const std::vector<Token>& ids() const { return ids_; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t length() const { return length_; }
  std::int64_t width() const { return width_; }
  std::int64_t code() const { return code_; }
  std::int64_t block() const { return width_ - code_ - 1; }  // entries of tokens and places
  std::int64_t bins() const { return static_cast<std::int64_t>(edges_.size()); }

  // Tokens (n, block) and places (length, block), each less its own mean: what the norm leaves of them but
  // for a factor.
  const Matrix<float>& token_rows() const { return token_rows_; }
  const Matrix<float>& place_rows() const { return place_rows_; }
  // Products of a token at a place with another.
  double product(std::int64_t token, std::int64_t place, std::int64_t other, std::int64_t other_place) const {
    return token_products_(token, other) + mixed_products_(token, other_place) +
           mixed_products_(other, place) + place_products_(place, other_place);
  }

  // Whose part a sequence's code is: its first token's, or that of a later one whose place looks so much like
  // the first that attention takes it for it.
  struct Anchor {
    std::int64_t token, place;
  };
  const std::vector<Anchor>& anchors() const { return anchors_; }
  // The code of sequences with each of these: (anchors, code).
  const Matrix<double>& codes() const { return codes_; }
  // What the norm takes off every entry, and what it divides by, of a token at a place of a sequence with
  // this anchor.
  double mean(std::int64_t token, std::int64_t place, std::int64_t anchor) const;
  double bare_mean(std::int64_t token, std::int64_t place) const;  // without the code's part
  double deviation(std::int64_t token, std::int64_t place, std::int64_t anchor) const;
  double measured(std::int64_t token, std::int64_t place, std::int64_t anchor) const {
    return undivided(token, place) / deviation(token, place, anchor);
  }

  // The tokens and places that may fall into each bin, whatever the sequence's anchor.
  struct Candidate {
    std::int32_t token, place;
  };
  std::span<const Candidate> candidates(std::int64_t bin) const;
  bool in_bin(std::int64_t bin, std::int64_t token, std::int64_t place, std::int64_t anchor) const;

  // What the feed-forward parts read of a token at a place of a sequence with this anchor: (D).
  std::vector<float> input(std::int64_t token, std::int64_t place, std::int64_t anchor) const;
  // The loss that reaches the feed-forward parts where this is read and the token after it is `next`, in
  // units of one factor for all. What the model expects there is taken to second order around the mean of its
  // output.
  class Losses {
   public:
    Losses(const SuperposedState& state, const std::vector<float>& input);
    double of(std::int64_t next) const;

   private:
    double tail_of(const double* direction) const;
    const SuperposedState& state_;
    std::vector<double> input_;
    double expected_ = 0;
  };

 private:
  double undivided(std::int64_t token, std::int64_t place) const {
    return measured_token_[static_cast<std::size_t>(token)] +
           measured_place_[static_cast<std::size_t>(place)];
  }
  double squares(std::int64_t token, std::int64_t place) const;
  void find_anchors(const Transformer& model);
  void find_candidates();

  std::vector<Token> ids_;
  std::int64_t length_, width_, code_;
  double norm_epsilon_;
  Matrix<float> full_tokens_, full_places_, token_rows_, place_rows_;
  Matrix<double> token_products_, mixed_products_, place_products_;  // of the centred rows
  std::vector<double> token_sum_, place_sum_, code_sum_, code_squares_;
  std::vector<double> measured_token_, measured_place_, edges_;
  std::vector<Anchor> anchors_;  // place by place
  Matrix<double> codes_;
  std::vector<Candidate> candidates_;      // by bin
  std::vector<std::size_t> first_of_bin_;  // bins + 1
  Matrix<double> output_;                  // of the ids: (n, D)
  std::vector<double> output_mean_;        // under the model's output bias: (D)
  Matrix<double> output_spread_;           // (D, D)
};

}  // namespace undertext
