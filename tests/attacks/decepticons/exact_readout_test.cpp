#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/readout.h"
#include "base/error.h"
#include "base/threads.h"
#include "corrupted_states.h"
#include "models/transformer/layer_views.h"
#include "recovery_scores.h"

namespace undertext {
namespace {

CorruptedState exact_state(TransformerKind kind, std::int64_t inner = 256, std::uint64_t seed = 1) {
  TransformerConfig config = attacked_config(kind);
  config.width = 64;
  config.inner = inner;
  const auto model = Transformer::random(config, Seed(3));
  CorruptOptions options;
  options.length = 12;
  options.seed = seed;
  CorruptedState state = corrupt(*model, options);
  state.model->set_mask(199);
  return state;
}

// The norm is a division by one number for all tokens at all places.
TEST(ExactState, GivesTokensAndPlacesOneLengthAndNoSum) {
  for (const TransformerKind kind : {TransformerKind::plain, TransformerKind::gpt2, TransformerKind::bert}) {
    const CorruptedState state = exact_state(kind);
    for (const std::string& name :
         {state.model->names().token_embedding, state.model->names().position_embedding}) {
      const at::Tensor rows = state.model->parameters().at(name);
      EXPECT_LT((rows.norm(2, 1) - kRowLength).abs().max().item<double>(), 1e-4) << name;
      EXPECT_LT(rows.sum(1).abs().max().item<double>(), 1e-4) << name;
    }
  }
}

// What the server computes of a measurement is what the model measures.
TEST(ExactState, MeasuresWhatTheModelMeasures) {
  const CorruptedState state = exact_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(1, 10);
  const ExactState known(*state.model, state.key, texts[0], 10);
  std::vector<double> code(static_cast<std::size_t>(known.blocks().code));
  for (std::int64_t t = 0; t < 10; ++t)
    for (std::size_t j = 0; j < code.size(); ++j)
      code[j] += known.token_codes()(t, static_cast<std::int64_t>(j)) / 10;
  const Observation observation = observed(state, texts);
  // Every token but the last is in the row of its bin, whose amount is then not zero.
  const LayerViews::Affine inner = layer_views(*state.model, observation.update.tensors, 1).inner;
  for (std::int64_t p = 0; p + 1 < 10; ++p) {
    const double value =
        known.measured(1, p, p, known.measured_code(1, code.data()), known.deviation(code.data()));
    const std::int64_t bin = known.bin_of(1, value);
    ASSERT_GE(bin, 0);
    ASSERT_LT(bin + 1, known.bins());
    EXPECT_NE(inner.bias[bin].item<float>(), inner.bias[bin + 1].item<float>()) << p;
  }
}

class ExactReadout : public testing::TestWithParam<TransformerKind> {};

TEST_P(ExactReadout, ReadsEverythingAndKnowsIt) {
  const CorruptedState state = exact_state(GetParam());
  const std::vector<Sentence> texts = random_texts(6, 12);
  const DecepticonRecovery recovery = read_exactly(observed(state, texts), state.key, {});
  EXPECT_EQ(recovery.length, 12);
  const SequenceScores scores = scores_of(texts, recovery);
  EXPECT_EQ(scores.recovered, 6);
  EXPECT_EQ(scores.total_accuracy, 1);
  EXPECT_EQ(scores.certified_accuracy, 1);
  EXPECT_GT(*scores.certified_share, 0.95);
}

// Several tokens to a bin: mixtures are decoded, and peeled off layer by layer.
TEST_P(ExactReadout, ReadsMoreTokensThanALayerHasBins) {
  const CorruptedState state = exact_state(GetParam(), 128);
  const std::vector<Sentence> texts = random_texts(14, 14);
  const SequenceScores scores =
      scores_of(texts, read_exactly(observed(state, texts), state.key, {.sequences = 14, .length = 14}));
  EXPECT_GT(scores.total_accuracy, 0.97);
  EXPECT_GE(scores.certified_accuracy.value_or(0), 0.99);
}

TEST_P(ExactReadout, GivesTheSameForAnyNumberOfThreads) {
  const CorruptedState state = exact_state(GetParam());
  const Observation observation = observed(state, random_texts(8, 12));
  const auto read = [&](int count) {
    const ThreadShare threads(count);
    return read_exactly(observation, state.key, {});
  };
  const DecepticonRecovery one = read(1), two = read(2);
  ASSERT_EQ(one.sequences.size(), two.sequences.size());
  for (std::size_t s = 0; s < one.sequences.size(); ++s) {
    EXPECT_EQ(one.sequences[s].ids, two.sequences[s].ids);
    EXPECT_EQ(one.sequences[s].confidence, two.sequences[s].confidence);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExactReadout,
                         testing::Values(TransformerKind::plain, TransformerKind::gpt2,
                                         TransformerKind::bert),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

// A causal model's sequences that begin alike have the same rows up to where they part.
TEST(ExactReadout, TellsSequencesApartThatBeginAlike) {
  const CorruptedState state = exact_state(TransformerKind::gpt2);
  std::vector<Sentence> texts = random_texts(5, 14);
  for (std::size_t p = 0; p < 3; ++p) texts[1][p] = texts[0][p];
  EXPECT_EQ(scores_of(texts, read_exactly(observed(state, texts), state.key, {})).total_accuracy, 1);
}

TEST(ExactReadout, RefusesCountsThatTheRowsContradict) {
  const CorruptedState state = exact_state(TransformerKind::plain);
  const Observation observation = observed(state, random_texts(6, 12));
  EXPECT_THROW(read_exactly(observation, state.key, {.sequences = 7}), UserError);
  EXPECT_THROW(read_exactly(observation, state.key, {.sequences = 5}), UserError);
  EXPECT_THROW(read_exactly(observation, state.key, {.length = 13}), UserError);
}

// On the paper's own state: collisions, shared first tokens and the last place.
TEST(ExactReadout, ReadsThePapersStateBetterThanThePaper) {
  TransformerConfig config = attacked_config(TransformerKind::plain);
  config.width = 96;
  config.heads = 8;
  config.inner = 128;
  config.vocabulary = 400;
  CorruptOptions options;
  options.design = DecepticonDesign::paper;
  options.length = 16;
  const CorruptedState state = corrupt(*Transformer::random(config, Seed(3)), options);
  std::vector<Sentence> texts = random_texts(12, 16);
  texts[1][0] = texts[0][0];
  const Observation observation = observed(state, texts);
  const SequenceScores ours = scores_of(texts, read_exactly(observation, state.key, {.sequences = 12}));
  const SequenceScores papers = scores_of(texts, read_as_in_paper(observation, state.key, {.sequences = 12}));
  EXPECT_GT(ours.total_accuracy, 0.8);
  EXPECT_LT(papers.total_accuracy, ours.total_accuracy - 0.1);
  EXPECT_GE(ours.certified_accuracy.value_or(0), 0.99);
}

}  // namespace
}  // namespace undertext
