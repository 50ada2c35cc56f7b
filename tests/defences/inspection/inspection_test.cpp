#include "defences/inspection.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "attacks/decepticons/corrupt.h"
#include "base/error.h"
#include "base/threads.h"
#include "defences/inspection/clever_disguises.h"
#include "defences/inspection/honest_states.h"
#include "models/transformer/layer_views.h"
#include "models/transformer/transformer.h"

namespace undertext {
namespace {

// What counts, in words.
std::string against(const InspectionReport& report) {
  std::string text = fmt::format("{} {:.3f}", name_of(report.verdict), report.score);
  for (const Evidence& item : report.findings)
    if (item.counts()) text += fmt::format("\n  {} {}: {}", item.tensor, info_of(item.kind).name, item.says);
  return text;
}

// UNDERTEXT_HONEST_STATES=200 takes that many of all sizes, and shows how near each kind of evidence came.
// Thresholds were chosen on states 0 to 199 and 1000 to 1199; these begin at 2000, or at
// UNDERTEXT_HONEST_FIRST.
TEST(Inspection, PassesHonestStates) {
  const char *asked = std::getenv("UNDERTEXT_HONEST_STATES"), *from = std::getenv("UNDERTEXT_HONEST_FIRST");
  const std::int64_t count = asked ? std::atoll(asked) : 24, first = from ? std::atoll(from) : 2000;
  std::map<EvidenceKind, std::pair<double, std::string>> nearest;  // by value / threshold
  int alarms = 0;
  for (std::int64_t i = first; i < first + count; ++i) {
    const HonestState state = honest_state(i, asked == nullptr);
    const InspectionReport report = inspect(*state.model, {.previous = state.previous.get()});
    EXPECT_EQ(report.verdict, InspectionVerdict::fit) << state.says << ": " << against(report);
    alarms += report.verdict != InspectionVerdict::fit;
    for (const Evidence& item : report.findings) {
      if (!asked) {
        EXPECT_LE(item.value, info_of(item.kind).honest)
            << info_of(item.kind).name << " of " << state.says << ": evidence.cpp says less";
      }
      auto& [ratio, says] = nearest[item.kind];
      if (item.value / item.threshold < ratio) continue;
      ratio = item.value / item.threshold;
      says = fmt::format("{:.3g} of {:.3g}  {}: {}", item.value, item.threshold, state.says, item.tensor);
    }
  }
  if (!asked) return;
  for (const auto& [kind, entry] : nearest)
    fmt::print("{:<20} {:8.4f}  {}\n", info_of(kind).name, entry.first, entry.second);
  fmt::print("{} alarms of {}\n", alarms, count);
}

std::shared_ptr<Transformer> state_to_corrupt(TransformerKind kind, std::uint64_t seed) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 500;
  config.width = 96;
  config.heads = 8;
  config.inner = 256;
  config.positions = 64;
  if (kind == TransformerKind::gpt2) {
    config.norm_first = config.causal = config.tied = true;
    config.activation = Activation::gelu_tanh;
  } else if (kind == TransformerKind::bert) {
    config.types = 2;
    config.tied = true;
    config.activation = Activation::gelu;
  }
  return Transformer::random(config, Seed(seed));
}

constexpr TransformerKind kKinds[] = {TransformerKind::plain, TransformerKind::gpt2, TransformerKind::bert};

// Enough for the statistics of measurements in a test.
std::vector<Sentence> public_texts() {
  Random draw(Seed(3));
  std::vector<Sentence> texts(100, Sentence(32));
  for (Sentence& text : texts)
    for (Token& token : text) token = static_cast<Token>(draw.below(500));
  return texts;
}

CorruptedState corrupted(TransformerKind kind, DecepticonDesign design, double disguise, std::uint64_t seed) {
  static const std::vector<Sentence> texts = public_texts();
  return corrupt(*state_to_corrupt(kind, seed),
                 {.design = design, .public_texts = texts, .disguise = disguise, .seed = seed});
}

TEST(Inspection, CatchesCorruptedStates) {
  for (const TransformerKind kind : kKinds)
    for (const DecepticonDesign design : {DecepticonDesign::paper, DecepticonDesign::best})
      for (const double disguise : {0.0, 0.1})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          const InspectionReport report = inspect(*corrupted(kind, design, disguise, seed).model);
          EXPECT_EQ(report.verdict, InspectionVerdict::corrupted)
              << name_of(kind) << " " << name_of(design) << " " << disguise << ": " << against(report);
        }
}

TEST(Inspection, CatchesCleverDisguises) {
  for (const TransformerKind kind : kKinds)
    for (const DecepticonDesign design : {DecepticonDesign::paper, DecepticonDesign::best})
      for (const CleverDisguise& clever : clever_disguises()) {
        const CorruptedState state = corrupted(kind, design, 0.1, 1);
        clever.apply(*state.model, Seed(2));
        const InspectionReport report = inspect(*state.model);
        EXPECT_NE(report.verdict, InspectionVerdict::fit)
            << name_of(kind) << " " << name_of(design) << ", " << clever.name << ": " << against(report);
      }
}

// The attack's heart in a state that is honest otherwise: neurons that measure the same and say the same, in
// random order and of random lengths, with thresholds as no quantiles are. part: of the layer's neurons;
// groups: probes.
void put_bank(Transformer& model, std::size_t layer, double part, std::int64_t groups, double noise,
              Seed seed) {
  const LayerViews views = layer_views(model, model.parameters(), layer);
  const std::int64_t f = model.config().inner, d = model.config().width;
  const auto used = static_cast<std::int64_t>(part * static_cast<double>(f));
  const double in = views.inner.weight.square().mean().sqrt().item<double>(),
               out = views.outer.weight.square().mean().sqrt().item<double>();
  const auto normal = [&](std::int64_t n, std::int64_t m, const char* name) {
    at::Tensor values = at::zeros({n, m});
    add_normal_noise(seed.derive(name), 1, values.data_ptr<float>(), values.numel());
    return values;
  };
  const at::Tensor probes = normal(groups, d, "probes"), rough = normal(used, d, "noise"),
                   lengths = normal(used, 1, "lengths").mul(0.3).exp(), edges = normal(used, 1, "edges");
  const at::Tensor said = normal(d, 1, "outputs");
  for (std::int64_t j = 0; j < used; ++j) {
    const std::int64_t neuron = (j * 7) % f;  // 7 has no factor in common with the tests' widths
    views.inner.weight[neuron].copy_((probes[j % groups] + rough[j] * noise) * lengths[j] * in);
    views.inner.bias[neuron].copy_((edges[j] * lengths[j] * in * std::sqrt(static_cast<double>(d)))[0]);
    views.outer.weight.select(1, neuron).copy_(said.select(1, 0) * out);
  }
}

TEST(Inspection, CatchesTheNeuronsAlone) {
  struct Bank {
    double part;
    std::int64_t groups;
    double noise;
    bool everywhere;
  };
  for (const TransformerKind kind : kKinds)
    for (const Bank& bank :
         {Bank{1, 1, 0, true}, Bank{1, 1, 0.1, true}, Bank{1, 1, 0.5, true}, Bank{0.5, 1, 0.1, true},
          Bank{1, 8, 0.1, true}, Bank{1, 1, 0.1, false}, Bank{0.25, 1, 0.1, false}}) {
      const std::shared_ptr<Transformer> model = state_to_corrupt(kind, 4);
      for (std::size_t layer = bank.everywhere ? 0 : 1; layer < (bank.everywhere ? 3 : 2); ++layer)
        put_bank(*model, layer, bank.part, bank.groups, bank.noise, Seed(layer));
      const InspectionReport report = inspect(*model);
      EXPECT_NE(report.verdict, InspectionVerdict::fit)
          << name_of(kind) << ", " << bank.part << " of the neurons, " << bank.groups << " probes, noise "
          << bank.noise << ": " << against(report);
    }
}

// What is known to get through, and is said so in docs/inspection.md: half of the neurons, told apart by
// noise in entries that inputs hardly use, and by what they add to entries that nothing reads.
TEST(Inspection, IsBlindToNoiseOnBothSidesOfSomeNeurons) {
  const std::shared_ptr<Transformer> model = state_to_corrupt(TransformerKind::plain, 4);
  const std::int64_t d = model->config().width, f = model->config().inner, hidden = d / 3;
  for (const std::string& name : {model->names().token_embedding, model->names().position_embedding})
    model->parameters().at(name).narrow(1, d - hidden, hidden).mul_(0.03);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    put_bank(*model, layer, 0.5, 1, 0, Seed(layer));
    const LayerViews views = layer_views(*model, model->parameters(), layer);
    at::Tensor noise = at::zeros({f, hidden}), outputs = at::zeros({hidden, f});
    add_normal_noise(Seed(layer).derive("in"), 0.3f, noise.data_ptr<float>(), noise.numel());
    add_normal_noise(Seed(layer).derive("out"), 0.3f, outputs.data_ptr<float>(), outputs.numel());
    views.inner.weight.narrow(1, d - hidden, hidden).copy_(noise);
    views.outer.weight.narrow(0, d - hidden, hidden).copy_(outputs);
  }
  const InspectionReport report = inspect(*model);
  EXPECT_EQ(report.verdict, InspectionVerdict::fit)
      << "no longer blind: mend docs/inspection.md. " << against(report);
}

bool counts(const InspectionReport& report, EvidenceKind kind) {
  return std::ranges::any_of(report.findings,
                             [&](const Evidence& item) { return item.kind == kind && item.counts(); });
}

TEST(Inspection, NamesTheEvidence) {
  const InspectionReport paper =
      inspect(*corrupted(TransformerKind::plain, DecepticonDesign::paper, 0, 1).model);
  using enum EvidenceKind;
  for (const EvidenceKind kind :
       {parallel_rows, twin_neurons, same_answers, parallel_outputs, one_live_output, ordered_biases,
        layered_biases, even_biases, dead_attention, copying_projection, constant_query, reserved_entries,
        huge_values})
    EXPECT_TRUE(counts(paper, kind)) << info_of(kind).name;
  const InspectionReport best =
      inspect(*corrupted(TransformerKind::plain, DecepticonDesign::best, 0, 1).model);
  for (const EvidenceKind kind :
       {separate_blocks, even_entries, one_live_column, uniform_attention, exact_zeros})
    EXPECT_TRUE(counts(best, kind)) << info_of(kind).name;
  const InspectionReport tied =
      inspect(*corrupted(TransformerKind::gpt2, DecepticonDesign::best, 0, 1).model);
  for (const EvidenceKind kind : {one_live_norm, constant_query, improbable_scale, improbable_tails})
    EXPECT_TRUE(counts(tied, kind)) << info_of(kind).name;

  // What counts comes first, by weight.
  for (std::size_t i = 1; i < paper.findings.size(); ++i) {
    const Evidence &before = paper.findings[i - 1], &after = paper.findings[i];
    EXPECT_GE(before.counts(), after.counts());
    if (before.counts() == after.counts()) {
      EXPECT_GE(info_of(before.kind).weight, info_of(after.kind).weight);
    }
  }
}

TEST(Inspection, ComparesWithTheStateBefore) {
  const std::shared_ptr<Transformer> honest = state_to_corrupt(TransformerKind::gpt2, 1);
  EXPECT_FALSE(counts(inspect(*honest, {.previous = honest.get()}), EvidenceKind::replaced));
  const std::shared_ptr<Transformer> other = state_to_corrupt(TransformerKind::gpt2, 2);
  const InspectionReport replaced = inspect(*honest, {.previous = other.get()});
  EXPECT_TRUE(counts(replaced, EvidenceKind::replaced));
  EXPECT_EQ(replaced.verdict, InspectionVerdict::suspicious) << "another state, though an honest one";
  const std::shared_ptr<Transformer> bert = state_to_corrupt(TransformerKind::bert, 2);
  EXPECT_THROW(inspect(*honest, {.previous = bert.get()}), UserError);
  const HonestState keyboard = honest_state(15, true);  // a cifg-lstm
  EXPECT_EQ(keyboard.model->kind(), "cifg-lstm");
  EXPECT_EQ(inspect(*keyboard.model).verdict, InspectionVerdict::fit);
  EXPECT_THROW(inspect(*honest, {.previous = keyboard.model.get()}), UserError);
}

TEST(Inspection, IsTheSameForAnyNumberOfThreads) {
  const CorruptedState state = corrupted(TransformerKind::bert, DecepticonDesign::best, 0.1, 1);
  std::vector<std::string> seen;
  for (const int count : {1, 2}) {
    set_threads(count);
    std::string text;
    for (const Evidence& item : inspect(*state.model).findings)
      text += fmt::format("{} {} {}\n", item.tensor, item.value, item.says);
    seen.push_back(text);
  }
  set_threads(0);
  EXPECT_EQ(seen[0], seen[1]);
}

// Whatever finite numbers a server sends, the answer is a verdict.
TEST(Inspection, TakesWhateverNumbersThereAre) {
  for (const TransformerKind kind : kKinds)
    for (const float value : {0.0f, 1e-42f, -1.0f, 3e38f}) {
      TransformerConfig config = state_to_corrupt(kind, 1)->config();
      config.width = 4;
      config.heads = 2;
      config.inner = 3;
      config.vocabulary = 2;
      config.positions = 1;
      NamedTensors parameters = random_parameters(config, Seed(1));
      for (auto& [name, tensor] : parameters) tensor.fill_(value);
      const InspectionReport report = inspect(Transformer(config, parameters));
      if (value > 1) {
        EXPECT_NE(report.verdict, InspectionVerdict::fit);
      }
      for (const Evidence& item : report.findings) EXPECT_TRUE(std::isfinite(item.value)) << item.says;
    }
}

}  // namespace
}  // namespace undertext
