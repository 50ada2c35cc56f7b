// What the model's own predictions put into the gradient, estimated without knowing the text, and what is
// left: how often each word was really typed.
//
// Words that were surely not typed have rows sum_c a_c p_c(k) h~_c with a_c the number of times context c
// occurred; a non-negative fit of those rows over a dictionary of likely contexts gives a, and the same a
// predicts the rows of all words. The difference to the observed row is r_k, whose last entry is the count of
// k. This finds the frequent words that the sign test misses: their probability mass outweighs their count.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "attacks/output_layer.h"
#include "attacks/row_sketch.h"
#include "attacks/search_tree.h"

namespace undertext {

// Estimates as above for what remains of the gradient, however much of it is already explained.
class BackgroundEstimator {
 public:
  // gradient: output_gradient() in units of one occurrence.
  BackgroundEstimator(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient);

  struct Estimate {
    Matrix<float> rows;            // r (words, D)
    std::vector<NodeId> contexts;  // that are in use
    std::vector<double> weights;   // a, one per context
    Matrix<float> hidden;          // h~ of the contexts
    double noise = 0;              // standard deviation of what no context explains, per entry
  };
  // remaining: the gradient less the edges that are known, (words, D). more: contexts to try beside those of
  // the dictionary that have proved useful (none: the whole dictionary).
  Estimate estimate(const Matrix<double>& remaining, std::span<const NodeId> more = {});

  double sign_threshold() const { return threshold_; }

 private:
  // Rows of the cache for these contexts, computed when new.
  std::vector<std::int64_t> sketched(std::span<const NodeId> contexts);

  SearchTree& tree_;
  const OutputLayer& layer_;
  double threshold_;
  RowSketch sketch_;
  std::vector<NodeId> dictionary_;
  std::vector<float> root_weight_;  // square root of each word's weight in the fit; 0: perhaps typed
  // p of each context met so far, weighted and sketched: (contexts, shared rows).
  std::unordered_map<NodeId, std::int64_t> cached_;
  std::vector<float> cache_;
  std::unordered_map<NodeId, double> last_;  // the last estimate, to start the next from
};

// Below minus this a word's bias gradient counts as surely negative: 1e-3, or 4 robust standard deviations.
double sign_threshold(const Matrix<double>& gradient);

// What one occurrence of a rare word adds to the gradient: 1 for a sum over one epoch; otherwise read off
// the words that were typed once, which are most of the words.
double occurrence_unit(const Observation& observation, const Matrix<double>& gradient);

}  // namespace undertext
