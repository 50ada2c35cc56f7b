// The state of --design paper has what decepticons, section 3, needs.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "attacks/decepticons/first_inputs.h"
#include "base/error.h"
#include "corrupted_states.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

class PaperState : public testing::TestWithParam<TransformerKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, PaperState,
                         testing::Values(TransformerKind::plain, TransformerKind::gpt2,
                                         TransformerKind::bert),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST_P(PaperState, HasOneProbeAscendingEdgesAndOneLiveOutput) {
  const CorruptedState state = small_state(GetParam());
  const Transformer& model = *state.model;
  const std::int64_t d = model.config().width;
  at::Tensor before;
  for (std::size_t i = 0; i < 3; ++i) {
    const LayerViews layer = layer_views(model, model.parameters(), i);
    EXPECT_TRUE(layer.inner.weight.eq(layer.inner.weight[0]).all().item<bool>()) << "rows are equal";
    EXPECT_TRUE(layer.inner.weight.narrow(1, 0, state.key.code).eq(0).all().item<bool>());
    EXPECT_EQ(layer.inner.weight[0][d - 1].item<float>(), 0);
    const at::Tensor edges = -layer.inner.bias.to(at::kDouble);
    EXPECT_TRUE((edges.slice(0, 1) > edges.slice(0, 0, -1)).all().item<bool>()) << "layer " << i;
    if (before.defined()) {
      EXPECT_GT(edges[0].item<double>(), before.item<double>()) << "edges run on over the layers";
    }
    before = edges[-1];
    EXPECT_EQ(layer.outer.weight.slice(0, 0, d - 1).abs().max().item<float>(), 0);
    EXPECT_GT(layer.outer.weight[d - 1].min().item<float>(), 0);
    const bool last_of_masked = model.config().masked() && i == 2;
    if (i > 0 && !last_of_masked) {
      EXPECT_EQ(layer.attention.weight.abs().max().item<float>(), 0);
    }
  }
  EXPECT_EQ(state.key.state_hash, hash_of(model.parameters()));
}

TEST_P(PaperState, GivesAllPlacesOfASequenceOneCode) {
  const CorruptedState state = small_state(GetParam());
  const std::vector<Sentence> texts = random_texts(3, 12);
  const Matrix<float> inputs = first_inputs(*state.model, texts);
  const std::int64_t v = state.key.code;
  const auto code = [&](std::int64_t row) {
    const at::Tensor values = at::tensor(at::ArrayRef<float>(inputs.row(row), static_cast<std::size_t>(v)));
    return (values - values.mean()) / values.std();
  };
  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t t = 1; t < 12; ++t)
      EXPECT_LT((code(12 * s) - code(12 * s + t)).abs().max().item<float>(), 1e-3);
    EXPECT_GT((code(12 * s) - code(12 * ((s + 1) % 3))).abs().max().item<float>(), 0.02) << "sequence " << s;
  }
}

// What the statistics are for: measurements fall into all parts of the bins alike.
TEST(PaperEdges, SpreadMeasurementsEvenly) {
  const std::vector<Sentence> texts = random_texts(60, 16);
  CorruptOptions options;
  options.public_texts = texts;
  const CorruptedState state = small_state(TransformerKind::plain, options);
  const Matrix<float> inputs = first_inputs(*state.model, random_texts(100, 16, 8));
  std::vector<double> edges;
  for (std::size_t i = 0; i < 3; ++i) {
    const at::Tensor bias = layer_views(*state.model, state.model->parameters(), i).inner.bias;
    for (std::int64_t j = 0; j < 256; ++j) edges.push_back(-bias[j].item<double>());
  }
  const at::Tensor probe = layer_views(*state.model, state.model->parameters(), 0).inner.weight[0];
  std::vector<int> quarter(4, 0);
  for (std::int64_t r = 0; r < inputs.rows; ++r) {
    double measured = 0;
    for (std::int64_t j = 0; j < 48; ++j) measured += probe[j].item<double>() * inputs(r, j);
    const auto above = std::ranges::upper_bound(edges, measured) - edges.begin();
    ASSERT_GT(above, 0) << "the first edge lies below everything";
    ++quarter[static_cast<std::size_t>((above - 1) * 4 / 768)];
  }
  for (const int count : quarter) EXPECT_NEAR(count, 400, 200);
}

TEST(PaperStates, IsTheSameForTheSameSeedAndAnotherForAnother) {
  CorruptOptions options;
  const std::string first = small_state(TransformerKind::gpt2, options).key.state_hash;
  EXPECT_EQ(first, small_state(TransformerKind::gpt2, options).key.state_hash);
  options.seed = 2;
  EXPECT_NE(first, small_state(TransformerKind::gpt2, options).key.state_hash);
}

TEST(PaperStates, LeavesTheModelItWasMadeFrom) {
  const auto model = Transformer::random(attacked_config(TransformerKind::plain), Seed(3));
  const std::string before = hash_of(model->parameters());
  CorruptOptions options;
  options.design = DecepticonDesign::paper;
  corrupt(*model, options);
  EXPECT_EQ(before, hash_of(model->parameters()));
}

// Appendix G: rank inspection finds nothing.
TEST(PaperStates, IsOfFullRankInDisguise) {
  CorruptOptions options;
  options.disguise = 0.01;
  const CorruptedState plain = small_state(TransformerKind::plain);
  const CorruptedState hidden = small_state(TransformerKind::plain, options);
  const auto rank = [](const CorruptedState& state) {
    return at::linalg_matrix_rank(layer_views(*state.model, state.model->parameters(), 1).inner.weight)
        .item<std::int64_t>();
  };
  EXPECT_EQ(rank(plain), 1);
  EXPECT_EQ(rank(hidden), 48);
  EXPECT_EQ(hidden.key.disguise, 0.01);
}

TEST(PaperStates, RefusesModelsWithoutRoomAndTextsThatAreTooShort) {
  TransformerConfig narrow = attacked_config(TransformerKind::plain);
  narrow.heads = 1;
  CorruptOptions options;
  options.design = DecepticonDesign::paper;
  EXPECT_THROW(corrupt(*Transformer::random(narrow, Seed(1)), options), UserError);
  TransformerConfig shallow = attacked_config(TransformerKind::bert);
  shallow.layers = 1;
  EXPECT_THROW(corrupt(*Transformer::random(shallow, Seed(1)), options), UserError);
  const auto model = Transformer::random(attacked_config(TransformerKind::plain), Seed(1));
  const std::vector<Sentence> few = {{1, 2, 3}};
  options.public_texts = few;
  EXPECT_THROW(corrupt(*model, options), UserError);
  options.public_texts = {};
  options.length = 41;
  EXPECT_THROW(corrupt(*model, options), UserError);
  options.length = 16;
  options.disguise = -1;
  EXPECT_THROW(corrupt(*model, options), UserError);
}

}  // namespace
}  // namespace undertext
