// The gradient of each sentence of a batch on its own, by its norm, and their weighted sum: one pass there,
// one back for the norms and one for the sum, whatever the number of sentences. No sentence's gradient is
// ever written out: a matrix that is the sum over words of a_t b_t^T has the squared norm
// sum_{t, t'} (a_t a_t') (b_t b_t') (Goodfellow, 2015, for each product of the model).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/cifg_cell.h"
#include "models/cifg_chains.h"
#include "models/output_block.h"

namespace undertext {

struct SentencesWorkspace {
  Buffer expected, d_h, d_gates, d_inputs;
};

// Which parameters count.
struct CifgParts {
  bool token_embedding = false, weight_ih = false, weight_hh = false, bias = false, projection = false,
       projection_bias = false, output_weight = false, output_bias = false;
  bool tied = false;  // the output weight is the token embedding: one matrix, asked for by both
};

class CifgSentences {
 public:
  // At most rows_per_block(V) words, at least one. All of these must outlive it.
  CifgSentences(const CellWeights& cell, const OutputWeights& output, std::span<const Sentence> sentences,
                const PrefixTree& tree, CellWorkspace& cell_workspace, OutputWorkspace& output_workspace,
                SentencesWorkspace& workspace);

  double loss() const;  // the sum over all words
  // Of each sentence's own sum of losses.
  std::vector<double> norms(const CifgParts& parts);
  // Adds the sum of the sentences' gradients, each times its weight; once, and after norms(). cell.scale: 1.
  void add(std::span<const double> weights, const CellGradient& cell, float* output_weight,
           float* output_bias);

 private:
  double squared_norm(std::size_t sentence, const CifgParts& parts) const;
  // (p_t - word t) (p_t' - word t') over all words, for t >= t'.
  double logit_product(std::size_t sentence, std::size_t t, std::size_t earlier) const;
  const float* input(std::int64_t row) const;

  const CellWeights& w_;
  const OutputWeights& output_;
  std::span<const Sentence> sentences_;
  const PrefixTree& tree_;
  CellWorkspace& cell_workspace_;
  OutputWorkspace& output_workspace_;
  SentencesWorkspace& workspace_;
  CifgCell cell_;
  std::vector<double> log_probability_;
  OutputBlock block_;
  std::vector<std::int32_t> word_row_;   // of each word, sentence after sentence
  std::vector<Chain> chains_;            // of each sentence
  std::vector<std::size_t> pair_begin_;  // of each row: with itself, its parent, and so on up
  std::vector<double> products_;         // p p' of each pair
  float* expected_;                      // (rows, E)
  float *d_h_ = nullptr, *d_gates_ = nullptr, *d_inputs_ = nullptr;  // (words, E), (words, 3U), (words, E)
};

}  // namespace undertext
