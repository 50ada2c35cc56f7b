// Takes a client's sentences out of the output layer's gradient one certain piece at a time.
//
// Contexts are grown from <S>, depth by depth: the rows propose which word follows (evidence_search), and the
// words that nobody typed say which of the contexts were really used (background). Then each word's row is
// read as a sum of the contexts in use (row_decoder). A row that comes out to nothing proves its edges, hence
// every prefix that leads to them; these are subtracted, and what is left is easier: the next round.
#pragma once

#include <unordered_map>
#include <vector>

#include "attacks/background.h"
#include "attacks/sentence_fit.h"

namespace undertext {

class Peeling {
 public:
  // gradient: output_gradient() in units of one occurrence. length: words per sentence when known, else 0.
  Peeling(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient, std::int64_t length);

  // One round; returns the number of words whose rows were explained in it.
  int round();
  // Looks for the contexts of words typed once further than a round does (sighting.h); returns how many it
  // found.
  int sight();
  // What one occurrence measures, by the rows of words typed once that the last round explained (1: as it
  // should be, or too few of them to tell).
  double unit() const { return unit_; }
  // Words with a row that is not explained yet.
  std::size_t open() const { return bag_.size(); }
  // How many words were typed, by the first estimate.
  double words() const;
  // Standard deviation of what nothing explains, in each entry of the gradient.
  double noise() const { return estimate_.noise; }
  // More of it than float32 rounding leaves.
  bool noisy() const;
  // Looks further: lower evidence, looser rows.
  void relax();
  // The joint fit over everything proven and what else the rows speak for; corrects what was proven.
  SentenceFit settle();
  // The fit again over the sentences that carry most of it, step by step: under noise the weight of one
  // sentence is spread over others much like it.
  SentenceFit consolidate(SentenceFit fit);

 private:
  std::vector<Token> open_words(const Matrix<float>& rows);
  std::vector<NodeId> beam();                  // candidates for the joint fit
  void take_first_words(Matrix<float>& rows);  // off the rows
  void grow();                                 // contexts_ and estimate_
  void subtract();                             // remaining_ and estimate_ after flow_ has changed

  SearchTree& tree_;
  std::int64_t length_;
  BackgroundEstimator background_;
  BackgroundEstimator::Estimate estimate_;
  Matrix<float> filter_;
  Matrix<double> remaining_;                   // of the sketched gradient
  std::unordered_map<NodeId, double> proven_;  // from rows that came out to nothing
  std::unordered_map<NodeId, double> flow_;    // proven, or whole in the last joint fit
  std::unordered_map<NodeId, double> ends_;    // of the last joint fit
  std::vector<char> closed_;                   // words whose row is explained
  std::vector<Token> bag_;                     // words whose row is not
  std::vector<NodeId> contexts_;               // in use beyond what is proven
  double unit_ = 1;
  double tolerance_ = .1, threshold_ = .5, loose_ = 1;
};

}  // namespace undertext
