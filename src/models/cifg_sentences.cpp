#include "models/cifg_sentences.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "models/dot.h"
#include "models/gemm.h"

namespace undertext {

CifgSentences::CifgSentences(const CellWeights& cell, const OutputWeights& output,
                             std::span<const Sentence> sentences, const PrefixTree& tree,
                             CellWorkspace& cell_workspace, OutputWorkspace& output_workspace,
                             SentencesWorkspace& workspace)
    : w_(cell),
      output_(output),
      sentences_(sentences),
      tree_(tree),
      cell_workspace_(cell_workspace),
      output_workspace_(output_workspace),
      workspace_(workspace),
      cell_(w_, tree_, cell_workspace_),
      log_probability_(tree_.target.size()),
      block_(output_, cell_.forward(), tree_, 0, tree_.rows(), log_probability_.data(),
             OutputPass::probabilities, output_workspace_) {
  std::vector<std::int32_t> target_row(tree_.target.size());
  for (std::int64_t r = 0; r < tree_.rows(); ++r)
    for (std::int64_t i = tree_.target_begin[r]; i < tree_.target_begin[r + 1]; ++i)
      target_row[i] = static_cast<std::int32_t>(r);
  for (const std::int64_t target : tree_.word_target) word_row_.push_back(target_row[target]);
  std::size_t word = 0;
  for (const Sentence& sentence : sentences_) {
    chains_.push_back({std::span(word_row_).subspan(word, sentence.size()), static_cast<std::int64_t>(word)});
    word += sentence.size();
  }
  std::vector<OutputBlock::RowPair> pairs;
  for (std::int32_t r = 0; r < tree_.rows(); ++r) {
    pair_begin_.push_back(pairs.size());
    for (std::int32_t above = r; above >= 0; above = tree_.parent[above]) pairs.emplace_back(r, above);
  }
  products_.resize(pairs.size());
  expected_ = workspace_.expected.floats(tree_.rows() * w_.embedding);
  block_.forward();
  block_.expect(pairs, products_.data(), expected_, output_workspace_);
}

double CifgSentences::loss() const {
  double loss = 0;
  for (std::size_t i = 0; i < log_probability_.size(); ++i)
    loss -= tree_.target_count[i] * log_probability_[i];
  return loss;
}

const float* CifgSentences::input(std::int64_t row) const {
  return w_.token_embedding + tree_.slot_token[tree_.slot[row]] * w_.embedding;
}

double CifgSentences::logit_product(std::size_t sentence, std::size_t t, std::size_t earlier) const {
  const Token word = sentences_[sentence][t], before = sentences_[sentence][earlier];
  const std::int32_t row = chains_[sentence].rows[t], above = chains_[sentence].rows[earlier];
  const double both = products_[pair_begin_[row] + (t - earlier)];
  return both - static_cast<double>(block_.probability(row, before)) -
         static_cast<double>(block_.probability(above, word)) + (word == before ? 1 : 0);
}

std::vector<double> CifgSentences::norms(const CifgParts& parts) {
  const std::int64_t e = w_.embedding, u = w_.units, words = std::ssize(word_row_);
  d_h_ = workspace_.d_h.floats(words * e);
  d_gates_ = workspace_.d_gates.floats(words * 3 * u);
  for (std::size_t s = 0; s < sentences_.size(); ++s)
    for (std::size_t t = 0; t < sentences_[s].size(); ++t) {
      const float* expected = expected_ + chains_[s].rows[t] * e;
      const float* own = output_.weight + sentences_[s][t] * e;
      float* d_h = d_h_ + (chains_[s].first_word + static_cast<std::int64_t>(t)) * e;
      for (std::int64_t j = 0; j < e; ++j) d_h[j] = expected[j] - own[j];
    }
  backward_alone(w_, cell_.states(), chains_, {d_h_, d_gates_});
  if (parts.token_embedding) {
    d_inputs_ = workspace_.d_inputs.floats(words * e);
    parallel_gemm(CblasNoTrans, CblasNoTrans, words, e, 3 * u, 1, d_gates_, 3 * u, w_.weight_ih, e, 0,
                  d_inputs_, e);
  }
  std::vector<double> norms(sentences_.size());
  parallel_for(std::ssize(norms), [&](std::int64_t s) {
    const auto place = static_cast<std::size_t>(s);
    norms[place] = std::sqrt(std::max(0.0, squared_norm(place, parts)));
  });
  return norms;
}

double CifgSentences::squared_norm(std::size_t sentence, const CifgParts& parts) const {
  const std::int64_t e = w_.embedding, u = w_.units;
  const CellStates states = cell_.states();
  const Chain& chain = chains_[sentence];
  const bool output_weight = parts.output_weight || (parts.tied && parts.token_embedding);
  double squares = 0;
  for (std::size_t t = 0; t < chain.rows.size(); ++t)
    for (std::size_t earlier = 0; earlier <= t; ++earlier) {
      const std::int64_t row = chain.rows[t], above = chain.rows[earlier];
      const std::int64_t word = chain.first_word + static_cast<std::int64_t>(t),
                         before = chain.first_word + static_cast<std::int64_t>(earlier);
      const auto product = [&](const float* of, std::int64_t i, std::int64_t j, std::int64_t n) {
        return dot_in_double(of + i * n, of + j * n, n);
      };
      double gates = parts.bias ? 1 : 0;
      if (parts.weight_ih) gates += dot_in_double(input(row), input(above), e);
      if (parts.weight_hh && earlier > 0)
        gates += product(states.h, chain.rows[t - 1], chain.rows[earlier - 1], e);
      double projection = parts.projection_bias ? 1 : 0;
      if (parts.projection) projection += product(states.y, row, above, u);
      double output = parts.output_bias ? 1 : 0;
      if (output_weight) output += product(states.h, row, above, e);
      double sum = 0;
      if (gates != 0) sum += gates * product(d_gates_, word, before, 3 * u);
      if (projection != 0) sum += projection * product(d_h_, word, before, e);
      if (output != 0) sum += output * logit_product(sentence, t, earlier);
      if (parts.token_embedding) {
        const Token read = tree_.slot_token[tree_.slot[row]],
                    read_before = tree_.slot_token[tree_.slot[above]];
        if (read == read_before) sum += product(d_inputs_, word, before, e);
        // Of one matrix, rows are asked for by the output layer and by what is read.
        const auto crossed = [&](std::size_t predicting, Token token, std::int64_t reading) {
          const std::int64_t r = chain.rows[predicting];
          const double logit = static_cast<double>(block_.probability(r, token)) -
                               (sentences_[sentence][predicting] == token ? 1 : 0);
          return logit * dot_in_double(states.h + r * e, d_inputs_ + reading * e, e);
        };
        if (parts.tied) sum += crossed(t, read_before, before) + crossed(earlier, read, word);
      }
      squares += earlier == t ? sum : 2 * sum;
    }
  return squares;
}

void CifgSentences::add(std::span<const double> weights, const CellGradient& cell, float* output_weight,
                        float* output_bias) {
  const std::int64_t e = w_.embedding;
  std::vector<float> rows(static_cast<std::size_t>(tree_.rows()), 0.0f), targets(tree_.target.size(), 0.0f);
  std::size_t word = 0;
  for (std::size_t s = 0; s < sentences_.size(); ++s)
    for (std::size_t t = 0; t < sentences_[s].size(); ++t, ++word) {
      const auto weight = static_cast<float>(weights[s]);
      rows[word_row_[word]] += weight;
      targets[tree_.word_target[word]] += weight;
    }
  block_.add_weighted({rows, targets}, output_weight, output_bias);
  float* d_h = cell_workspace_.d_h.floats(tree_.rows() * e);
  for (std::int64_t r = 0; r < tree_.rows(); ++r) {
    for (std::int64_t j = 0; j < e; ++j) d_h[r * e + j] = rows[r] * expected_[r * e + j];
    for (std::int64_t i = tree_.target_begin[r]; i < tree_.target_begin[r + 1]; ++i)
      for (std::int64_t j = 0; j < e; ++j)
        d_h[r * e + j] -= targets[i] * output_.weight[tree_.target[i] * e + j];
  }
  cell_.backward(d_h, cell);
}

}  // namespace undertext
