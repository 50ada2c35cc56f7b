// FILM, algorithm 1: the likeliest sentences that the words of a bag make, by the model's own probabilities.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "models/some_words.h"
#include "models/transformer/reader.h"

namespace undertext {

struct BeamOptions {
  std::int64_t beams = 32;  // of each group
  // Groups choose one after the other, each with less taste for tokens that beams of earlier groups hold:
  // off a token's score go so many nats for each time. The published code has 8 groups; the paper none.
  std::int64_t groups = 1;
  double diversity = 0.1;
  // R_n and rho of line 3 of TOP. A sentence pays for every n-gram that it, or an earlier sentence, has
  // already; where the penalty is infinite it has none twice. n = 0: no penalty.
  std::int64_t ngram = 2;
  double ngram_penalty = std::numeric_limits<double>::infinity();
  std::int64_t longest = 40;  // tokens
};

struct Hypothesis {
  Sentence tokens;
  double log_probability = 0;  // among all tokens, not the bag's; of all but the first token
  double repeated = 0;         // R_n
};

class BeamSearch {
 public:
  // bag: ascending.
  BeamSearch(std::shared_ptr<const Transformer> model, std::vector<Token> bag, const BeamOptions& options);

  // The best sentence of each group, best first; fewer tokens than `longest` where nothing may follow.
  // earlier: whose n-grams count as seen (section 4.5).
  std::vector<Hypothesis> run(const std::vector<Token>& starts, const std::vector<Sentence>& earlier);

 private:
  struct Beam : Hypothesis {
    StateId state = -1;
  };
  using Group = std::vector<Beam>;
  struct Child;

  void read(std::vector<Group>& groups);
  // Log-probabilities of the bag's tokens after each state that was read last: (states, bag).
  Matrix<float> log_probabilities();
  Group step(const Group& group, const Matrix<float>& log_probability, const std::vector<double>& taken,
             const std::vector<Sentence>& earlier) const;
  void add_taken(const Group& group, std::vector<double>& taken) const;
  double score(const Hypothesis& hypothesis) const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Token> bag_;
  BeamOptions options_;
  SomeWords words_;
  TransformerReader reader_;
  StateId first_ = 0;      // of the states that were read last
  std::int64_t read_ = 0;  // how many these are
  OutputWorkspace workspace_;
};

// Whether each token of the bag (ascending), put after the sentence, ends an n-gram that this sentence or one
// of the earlier ones has already.
std::vector<bool> repeats(const Sentence& sentence, const std::vector<Sentence>& earlier,
                          const std::vector<Token>& bag, std::int64_t n);

}  // namespace undertext
