// What the model's own predictions put into the gradient, estimated without knowing the text, and what is
// left: how often each word was really typed.
//
// Words that were surely not typed have rows sum_c a_c p_c(k) h~_c with a_c the number of times context c
// occurred; a non-negative fit of those rows over a dictionary of likely contexts gives a, and the same a
// predicts the rows of all words. The difference to the observed row is r_k, whose last entry is the count of
// k. This finds the frequent words that the sign test misses: their probability mass outweighs their count.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "attacks/context_table.h"
#include "federated/observation.h"

namespace undertext {

// Estimates as above for what remains of the gradient, however much of it is already explained.
class BackgroundEstimator {
 public:
  // gradient: output_gradient() in units of one occurrence; kept by reference.
  BackgroundEstimator(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient);

  // The contexts met, in the rows of a sketch that keeps every word that may have been typed.
  ContextTable& table() { return *table_; }
  // The gradient in that sketch.
  const Matrix<double>& gradient() const { return gradient_; }

  // Gives each word that the model finds likely after one of these contexts a row of its own, should it have
  // none yet: what the model all but knew may have been typed without a trace in the word's bias. True when
  // rows have moved: whatever was in the old rows must be made again.
  bool keep_likely(std::span<const NodeId> contexts, float least);

  struct Estimate {
    Matrix<float> rows;            // r (sketch rows, D)
    std::vector<NodeId> contexts;  // that are in use
    std::vector<double> weights;   // a, one per context
    Matrix<float> hidden;          // h~ of the contexts
    double noise = 0;              // standard deviation of what no context explains, per entry
  };
  // remaining: the sketched gradient less the edges that are known. more: contexts to try beside those of
  // the dictionary that have proved useful (none: the whole dictionary).
  Estimate estimate(const Matrix<double>& remaining, std::span<const NodeId> more = {});

 private:
  void make_table();

  SearchTree& tree_;
  const OutputLayer& layer_;
  const Matrix<double>& full_;  // the gradient, (words, D)
  std::vector<Token> kept_;
  std::vector<float> weight_;  // of each word in the shared rows
  std::optional<ContextTable> table_;
  Matrix<double> gradient_;  // sketched
  std::vector<NodeId> dictionary_;
  std::unordered_map<NodeId, double> last_;  // the last estimate, to start the next from
};

// Below minus this a word's bias gradient counts as surely negative: 1e-3, or 4 robust standard deviations.
double sign_threshold(const Matrix<double>& gradient);

// What one occurrence of a rare word adds to the gradient: 1 for a sum (per epoch); otherwise read off
// the words that were typed once, which are most of the words.
double occurrence_unit(const Observation& observation, const Matrix<double>& gradient);

}  // namespace undertext
