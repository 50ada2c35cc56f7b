// FILM (Gupta et al., 2022): whole sentences out of the gradient of a batch, from a causal transformer whose
// norms come first (gpt2). --method paper is algorithm 1 with the reordering of section 4.4; best is ours,
// which takes the gradient itself as guide and judge.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

enum class FilmMethod { paper, best };

// Where the bag of words comes from. oracle: from the truth, as in the published experiments.
enum class FilmBag { gradient, oracle };

// Section 4.4, after the beam search.
enum class FilmReorder { none, phrases, tokens, both };

struct FilmOptions {
  FilmMethod method = FilmMethod::best;
  FilmBag bag = FilmBag::gradient;
  std::vector<Token> oracle_bag = {};  // for FilmBag::oracle alone
  std::int64_t beam = 32;
  std::int64_t sentences = 0;  // to recover; 0: paper: one; best: as many as the update holds
  std::int64_t batch = 0;      // sentences of the client's step; 0: as the update says, or unknown
  std::int64_t longest = 40;   // paper: tokens of a hypothesis, unless the position rows show fewer
  // paper: which tokens may begin a sentence (bag tokens whose first letter is a capital one); empty: all
  std::vector<Token> starts = {};
  std::vector<Token> ends = {};  // paper: tokens that hold . ? or !, after the first of which one may cut
  // paper: algorithm 1. Each n-gram that occurs again costs so many nats; infinite: none does. 0: no penalty.
  std::int64_t ngram = 2;
  double ngram_penalty = std::numeric_limits<double>::infinity();
  std::int64_t groups = 1;  // paper: of beams, later ones with less taste for tokens of earlier ones
  double diversity = 0.1;   // nats for each time that an earlier group's beams hold a token
  FilmReorder reorder = FilmReorder::both;
  std::int64_t phrase_steps = 200, token_steps = 200;  // of reordering
  double beta = 1;                                     // weight of the gradient norm beside the perplexity
  bool fast_norm = false;   // of one layer norm in the middle of the network, as the published code
  bool swaps_only = false;  // tokens are neither deleted nor inserted, likewise
  bool cut_always = false;  // after the first end of a sentence, whatever the score says; likewise
  // What an adversary knows of a defence: the deviation of the noise in each number of the update. A row of
  // the embedding then counts by the threshold of section 6.3, tau = noise * sqrt(2 log D).
  double noise = 0;
  Seed seed{1};
  std::function<void(const std::string&)> trace = {};  // told how the search goes
};

struct FilmSentence {
  Sentence ids;
  double score = 0;       // best first; what it means is the method's own
  double confidence = 0;  // 0 to 1: share of its steps that the gradient bears out
  bool certified = false;
};

struct FilmRecovery {
  std::vector<Token> bag;  // ascending
  std::string bag_from;    // oracle, rows, span, norms, bias or evidence
  // 0 to 1. Empty: not to be told, as of rows' norms under a tied head, where every row moved.
  std::optional<double> bag_confidence;
  std::int64_t longest = 0;  // tokens of the longest sentence, as the position rows show; 0: they do not
  std::vector<FilmSentence> sentences;  // best first
  double residual = 1;                  // of the whole gradient, relative: what the sentences do not explain
  bool certified = false;               // the gradient of these sentences is the observed one, to rounding
};

// Sets what the published code does in another way than the paper says: 8 groups, the fast norm, 100 and 99
// steps, swaps of tokens alone, and every text cut after its first end.
void follow_published_code(FilmOptions& options);

// UserError where the model is no gpt2 or the update is not one step.
FilmRecovery film(const Observation& observation, const FilmOptions& options);

}  // namespace undertext
