#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "attacks/decepticons/correlation.h"
#include "attacks/decepticons/difference_rows.h"
#include "attacks/decepticons/first_inputs.h"
#include "attacks/decepticons/readout.h"
#include "attacks/decepticons/sequence_shape.h"
#include "base/error.h"
#include "base/threads.h"
#include "corrupted_states.h"
#include "metrics/sequence_scores.h"

namespace undertext {
namespace {

SequenceScores scores_of(const std::vector<Sentence>& truth, const DecepticonRecovery& recovery) {
  std::vector<Sentence> found;
  std::vector<std::vector<double>> confidence;
  std::vector<std::vector<bool>> certified;
  for (const RecoveredSequence& sequence : recovery.sequences) {
    found.push_back(sequence.ids);
    confidence.push_back(sequence.confidence);
    certified.push_back(sequence.certified);
  }
  return score_sequences(truth, found, {confidence, certified});
}

// eq. 3: a token that is alone in its bin is there as it was, divided by its own weight.
TEST(DividedDifferences, HoldTheInputsOfTheFeedForwardPart) {
  for (const TransformerKind kind : {TransformerKind::plain, TransformerKind::gpt2, TransformerKind::bert}) {
    const CorruptedState state = small_state(kind);
    const std::vector<Sentence> texts = random_texts(1, 8);
    const Observation observation = observed(state, texts);
    const DifferenceRows found = divided_differences(layer_gradients(*state.model, observation));
    std::vector<Sentence> read = texts;
    if (kind == TransformerKind::bert) read[0] = state.model->examples(texts)[0].input;
    const Matrix<float> inputs = first_inputs(*state.model, read);
    int seen = 0;
    for (std::int64_t t = 0; t < inputs.rows; ++t)
      for (std::int64_t r = 0; r < found.rows.rows; ++r) {
        // All but the live entry, which grows from layer to layer; the norm then shrinks the others.
        if (correlations(standardised(inputs.row(t), 1, 48, 0, 47),
                         standardised(found.rows.row(r), 1, 48, 0, 47))(0, 0) > 0.9999f) {
          ++seen;
          EXPECT_TRUE(found.pure[static_cast<std::size_t>(r)]);
          break;
        }
      }
    EXPECT_GE(seen, 6) << name_of(kind) << ": the last of 8 has no gradient, and two may share a bin";
  }
}

TEST(PaperReadout, ReadsWhatIsAloneInItsBin) {
  for (const TransformerKind kind : {TransformerKind::plain, TransformerKind::gpt2}) {
    const CorruptedState state = small_state(kind);
    const std::vector<Sentence> texts = random_texts(3, 10);
    const Observation observation = observed(state, texts);
    const DecepticonRecovery recovery =
        read_as_in_paper(observation, state.key, {.sequences = 3, .length = 10});
    ASSERT_EQ(recovery.sequences.size(), 3u);
    EXPECT_EQ(recovery.length, 10);
    const SequenceScores scores = scores_of(texts, recovery);
    EXPECT_GE(scores.total_accuracy, 0.6) << name_of(kind);
    EXPECT_GE(*scores.certified_share, 0.5) << name_of(kind);
    EXPECT_EQ(scores.certified_accuracy.value_or(0), 1) << name_of(kind);
  }
}

// Appendix G: a disguise moves inputs from bin to bin, and some show in several.
TEST(PaperReadout, ReadsDisguisedStates) {
  const CorruptedState state = small_state(TransformerKind::plain, {.disguise = 1e-3});
  const std::vector<Sentence> texts = random_texts(3, 10);
  const SequenceScores scores =
      scores_of(texts, read_as_in_paper(observed(state, texts), state.key, {.sequences = 3, .length = 10}));
  EXPECT_GE(scores.total_accuracy, 0.6);
  EXPECT_EQ(scores.certified_accuracy.value_or(1), 1);
}

TEST(PaperReadout, ReadsMaskedModelsBetweenTheirMasks) {
  const CorruptedState state = small_state(TransformerKind::bert);
  const std::vector<Sentence> texts = random_texts(1, 20);
  const DecepticonRecovery recovery =
      read_as_in_paper(observed(state, texts), state.key, {.sequences = 1, .length = 20});
  const SequenceScores scores = scores_of(texts, recovery);
  EXPECT_GE(scores.total_accuracy, 0.6);
  EXPECT_EQ(scores.certified_accuracy.value_or(1), 1);
  for (const Token token : recovery.sequences[0].ids) EXPECT_NE(token, 199) << "masks are filled";
}

TEST(PaperReadout, FindsLengthAndNumberByItself) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(4, 12);
  Observation observation = observed(state, texts);
  observation.update.protocol.count = 0;
  const DecepticonRecovery recovery = read_as_in_paper(observation, state.key, {});
  EXPECT_EQ(recovery.length, 12);
  EXPECT_EQ(recovery.sequences.size(), 4u);
}

TEST(PaperReadout, IsTheSameForAnyNumberOfThreads) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const Observation observation = observed(state, random_texts(5, 14));
  set_threads(1);
  const DecepticonRecovery one = read_as_in_paper(observation, state.key, {.sequences = 5, .length = 14});
  set_threads(2);
  const DecepticonRecovery two = read_as_in_paper(observation, state.key, {.sequences = 5, .length = 14});
  set_threads(0);
  for (std::size_t s = 0; s < 5; ++s) {
    EXPECT_EQ(one.sequences[s].ids, two.sequences[s].ids);
    EXPECT_EQ(one.sequences[s].confidence, two.sequences[s].confidence);
  }
}

TEST(PaperReadout, CountsTheLabelsOfAnUntiedModel) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const Observation observation = observed(state, random_texts(6, 12));
  const SequenceShape right{6, 12};
  EXPECT_NO_THROW(check_sequences(*state.model, observation, right));
  for (const std::int64_t wrong : {3, 5, 7, 12})
    EXPECT_THROW(check_sequences(*state.model, observation, {wrong, 12}), UserError) << wrong;
  // Of so many that every token is one's label, nothing can be told.
  EXPECT_NO_THROW(check_sequences(*state.model, observed(state, random_texts(60, 32)), {60, 32}));
}

// Two sequences may not be told apart by the few tokens that are alone in their bins, and a sequence that is
// mostly filled up may rather be another's.
TEST(PaperReadout, CertifiesNothingInSequencesThatAreMostlyFilledUp) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(24, 14);  // for 768 bins of 200 tokens
  const DecepticonRecovery recovery = read_as_in_paper(observed(state, texts), state.key, {.sequences = 24});
  const SequenceScores scores = scores_of(texts, recovery);
  EXPECT_GE(scores.certified_accuracy.value_or(1), 0.99);
  for (const RecoveredSequence& sequence : recovery.sequences) {
    const auto certified = std::ranges::count(sequence.certified, true);
    EXPECT_TRUE(certified == 0 || certified >= 6) << certified;
  }
}

// A change of the batch's loss by a step's rate, as another protocol would send it.
TEST(PaperReadout, ReadsADifferenceOfOneStep) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(1, 8);
  Observation observation = observed(state, texts);
  const DecepticonRecovery gradient = read_as_in_paper(observation, state.key, {.length = 8});
  observation.update.protocol.kind = UpdateKind::delta;
  observation.update.protocol.learning_rate = 0.5;
  for (auto& [name, tensor] : observation.update.tensors) tensor = tensor * -0.5;
  EXPECT_EQ(read_as_in_paper(observation, state.key, {.length = 8}).sequences[0].ids,
            gradient.sequences[0].ids);
}

TEST(PaperReadout, RefusesWhatItCannotRead) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(2, 8);
  const Observation good = observed(state, texts);
  const auto refused = [&](const Observation& observation, const DecepticonKey& key,
                           const DecepticonOptions& options = {.sequences = 2, .length = 8}) {
    EXPECT_THROW(read_as_in_paper(observation, key, options), UserError);
  };
  refused(good, state.key, {.sequences = 2, .length = 4});    // shorter than the gradient shows
  refused(good, state.key, {.sequences = 2, .length = 400});  // longer than the model reads
  refused(good, state.key, {.sequences = 2, .length = 12});   // longer than the gradient shows
  refused(good, state.key, {.sequences = 1, .length = 8});    // fewer than its tokens fit into
  DecepticonKey other = state.key;
  other.state_hash[0] = other.state_hash[0] == '0' ? '1' : '0';
  refused(good, other);
  other = state.key;
  other.code = 47;
  refused(good, other);
  Observation changed = good;
  changed.update.protocol.kind = UpdateKind::weights;
  refused(changed, state.key);
  changed = good;
  changed.update.protocol.epochs = 2;
  refused(changed, state.key);
  changed = good;
  changed.update.tensors.erase(state.model->names().layers[1].inner_bias);
  refused(changed, state.key);
  changed = good;
  for (auto& [name, tensor] : changed.update.tensors) tensor = at::zeros_like(tensor);
  refused(changed, state.key);
  refused(changed, state.key, {});
}

}  // namespace
}  // namespace undertext
