// Which words a client typed, from its update (gboard-next-word, section 3.1).
#pragma once

#include <vector>

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

// Algorithm 2: words whose output bias went the way only typed words go (before - after < 0, strictly), most
// negative first.
WordRecovery recover_words_by_sign(const Observation& observation);

// Algorithm 2 with the magnitude cutoff of section 6.1, chosen without the truth: centre and spread of the
// untyped words from the median and lower quartile, one-sided p-values, Benjamini-Hochberg at q = .05, again
// without the words found until nothing changes. Where it is not noise that spreads the untyped words, the
// sign decides, less what the noise of the stillest output rows explains.
WordRecovery recover_words_by_cutoff(const Observation& observation);

// Rows of the output layer, weights as well as bias. The model's own predictions over likely contexts say
// what an untyped word's row should be; what is missing from the observed row is the sum of the contexts that
// the word really followed. Its projection on the contexts' mean, in units of one occurrence, is the word's
// count, tested against the crowd of untyped words (Benjamini-Hochberg at q = .05), so that it holds under
// noise. Where a token embedding of its own is in the update, its rows add the words that were read.
WordRecovery recover_words_by_rows(const Observation& observation);

// The strongest rule we have that needs no truth: the words of the sentences that explain the update when
// these are certain; else counts after the model's own predictions are taken away, from weight rows and bias,
// and a trained embedding's rows where the update holds them.
WordRecovery recover_words(const Observation& observation);
// The words of sentences already recovered and certified.
WordRecovery words_of_sentences(const Observation& observation, const SentenceRecovery& sentences);

// before - after of the output bias, one number per word, in double: the scores of all of these.
std::vector<double> output_bias_scores(const Observation& observation);

// What one occurrence of a rare word takes off its score, a positive number: the learning rate for one summed
// step; otherwise the median over the words below the cutoff, most of which were typed once. 0 when there are
// none.
double score_of_one(const Observation& observation, const std::vector<double>& scores);

}  // namespace undertext
