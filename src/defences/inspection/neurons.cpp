// What the neurons make of the inputs that they get, by a pass over random tokens. Noise in entries that no
// input uses hides parallel rows from whoever looks at the weights alone, and a server may also give groups
// of neurons a probe each: so the rows are compared one by one, and only in the directions in which inputs
// differ. Where these differ in a few directions far more than in all others, it may fill the others with
// noise: so the order of the answers is compared too.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quantile.h"
#include "defences/inspection/checks.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

// Few inputs: the directions that they span are then used ones, whatever part of the width is used.
constexpr std::int64_t kSequences = 2, kLength = 16;
constexpr double kUsed = 0.1;         // of the median spread: below it a direction is not used
constexpr std::size_t kLeading = 4;   // directions that training itself turns neurons to
constexpr double kTwins = 0.95;       // cosine of neurons that see the same in all other directions
constexpr double kSame = 0.999;       // rank correlation of neurons that answer the same
constexpr std::int64_t kSketch = 64;  // dimensions that outputs are compared in
constexpr std::int64_t kBlock = 512;

TokenRows random_tokens(const TransformerConfig& config, Seed seed) {
  Random random(seed);
  TokenRows rows;
  for (std::int64_t s = 0; s < kSequences; ++s) {
    std::vector<Token> sequence;
    for (std::int64_t i = 0; i < std::min(kLength, config.positions); ++i)
      sequence.push_back(static_cast<Token>(random.below(static_cast<std::uint64_t>(config.vocabulary))));
    rows.add(sequence);
  }
  return rows;
}

// What the feed-forward part of a layer reads: (rows, D).
at::Tensor inputs_of(const TransformerConfig& config, const LayerWeights& weights,
                     TransformerWorkspace::Layer& kept, std::int64_t rows) {
  at::Tensor inputs = at::empty({rows, config.width}, at::kFloat);
  const bool before = config.norm_first;
  layer_norm_again(before ? weights.norm2 : weights.norm1, kept.middle.floats(rows * config.width), rows,
                   (before ? kept.statistics2 : kept.statistics1).floats(2 * rows), inputs.data_ptr<float>());
  return inputs;
}

// Orthonormal columns (D, k): the directions in which the inputs differ. By the median of their spreads, not
// the largest: one direction may tower over all others in honest states too.
at::Tensor used_directions(const at::Tensor& inputs) {
  const at::Tensor centred = inputs.to(at::kDouble) - inputs.to(at::kDouble).mean(0, true);
  const auto [squares, vectors] = at::linalg_eigh(centred.mm(centred.t()), "L");
  std::vector<double> spreads = values_of(squares.clamp_min(0).sqrt());
  const double least = kUsed * quantile(spreads, 0.5);
  std::vector<std::int64_t> used;
  for (std::size_t i = 0; i + kLeading < spreads.size(); ++i)  // ascending
    if (spreads[i] > least && spreads[i] > 1e-5 * spreads.back())
      used.push_back(static_cast<std::int64_t>(i));
  if (used.empty()) return at::zeros({inputs.size(1), 0}, at::kFloat);
  const at::Tensor chosen = at::tensor(used, at::kLong);
  const at::Tensor scaled = vectors.index_select(1, chosen) / squares.index_select(0, chosen).sqrt();
  return centred.t().mm(scaled).to(at::kFloat);
}

// Rows of length 1, whatever the size of their numbers; zero where they are zero.
at::Tensor unit_rows(const at::Tensor& matrix) {
  const at::Tensor rows = matrix / matrix.abs().amax({1}, true).clamp_min(1e-30);
  return rows / rows.norm(2, {1}, true).clamp_min(1e-12);
}

// Which of these rows of length 1 have a cosine above `cosine` with which: (rows of the block, all rows).
at::Tensor alike(const at::Tensor& rows, std::int64_t first, double cosine) {
  const at::Tensor block = rows.narrow(0, first, std::min(kBlock, rows.size(0) - first));
  return block.mm(rows.t()).abs().gt(cosine);
}

// Share of the neurons that are alike with at least `crowd` others, by all that is given of them.
double in_crowds(const std::vector<at::Tensor>& rows, double cosine, std::int64_t crowd) {
  const std::int64_t neurons = rows.front().size(0);
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < neurons; first += kBlock) {
    at::Tensor both = alike(rows.front(), first, cosine);
    for (std::size_t i = 1; i < rows.size(); ++i) both.logical_and_(alike(rows[i], first, cosine));
    count += both.sum({1}).gt(crowd).sum().item<std::int64_t>();  // itself too
  }
  return static_cast<double>(count) / static_cast<double>(neurons);
}

// Directions in few dimensions are near each other by chance: in k of them a share below (1 - c^2)^((k - 1) /
// 2) has a cosine above c with a given one.
std::int64_t smallest_crowd(std::int64_t neurons, std::int64_t dimensions) {
  const double chance = std::pow(1 - kTwins * kTwins, static_cast<double>(dimensions - 1) / 2);
  const double share = std::min(1.0, 0.01 + 4 * chance);
  return std::max<std::int64_t>(8,
                                static_cast<std::int64_t>(std::ceil(static_cast<double>(neurons) * share)));
}

// What neurons add to the outputs, in few random dimensions that keep cosines about as they are: (neurons,
// .).
at::Tensor outputs_of(const at::Tensor& weight, Seed seed) {
  at::Tensor neurons = unit_rows(weight.t());
  if (neurons.size(1) <= kSketch) return neurons;
  at::Tensor random = at::zeros({neurons.size(1), kSketch});
  add_normal_noise(seed, 1, random.data_ptr<float>(), random.numel());
  return unit_rows(neurons.mm(random));
}

void check_twins(const std::string& name, const LayerViews& layer, const at::Tensor& directions, Seed seed,
                 Findings& findings) {
  const std::int64_t neurons = layer.inner.weight.size(0), k = directions.size(1);
  if (k < 4) return;  // nothing to tell apart
  const at::Tensor measured = unit_rows(unit_rows(layer.inner.weight).mm(directions));
  const std::int64_t crowd = smallest_crowd(neurons, k);
  const double share = in_crowds({measured, outputs_of(layer.outer.weight, seed)}, kTwins, crowd);
  findings.push_back(
      {name, EvidenceKind::twin_neurons, share, 0.05,
       fmt::format("{:.3g} of {} neurons measure the same of what random tokens bring, and say the "
                   "same, as {} others",
                   share, neurons, crowd)});
}

// answers: (rows, neurons). The ranks of each neuron's as a vector of length 1, zero for one that always
// answers the same: (neurons, rows).
at::Tensor ranked(const float* answers, std::int64_t rows, std::int64_t neurons) {
  at::Tensor result = at::zeros({neurons, rows});
  std::vector<double> own(static_cast<std::size_t>(rows));
  const double middle = static_cast<double>(rows - 1) / 2;
  for (std::int64_t j = 0; j < neurons; ++j) {
    for (std::int64_t r = 0; r < rows; ++r) own[static_cast<std::size_t>(r)] = answers[r * neurons + j];
    const std::vector<double> ranks = ranks_of(own);
    double square = 0;
    for (const double rank : ranks) square += (rank - middle) * (rank - middle);
    if (square == 0) continue;
    float* out = result.data_ptr<float>() + j * rows;
    for (std::int64_t r = 0; r < rows; ++r)
      out[r] = static_cast<float>((ranks[static_cast<std::size_t>(r)] - middle) / std::sqrt(square));
  }
  return result;
}

void check_answers(const std::string& name, const float* answers, std::int64_t rows, std::int64_t neurons,
                   Findings& findings) {
  const std::int64_t crowd = smallest_crowd(neurons, rows);
  const double share = in_crowds({ranked(answers, rows, neurons)}, kSame, crowd);
  findings.push_back(
      {name, EvidenceKind::same_answers, share, 0.9,
       fmt::format("to random tokens {:.3g} of {} neurons answer in the same order as {} others", share,
                   neurons, crowd)});
}

}  // namespace

void check_neurons(const Transformer& model, Seed seed, Findings& findings) {
  const TransformerConfig& config = model.config();
  const TransformerWeights weights = model.weights();
  const TokenRows rows = random_tokens(config, seed.derive("tokens"));
  TransformerWorkspace work;
  TransformerPass(config, model.names(), weights, rows, std::nullopt, work)
      .forward(std::vector<std::int64_t>{0});
  for_layers(model, findings, [&](std::size_t layer, Findings& found) {
    const std::string& name = model.names().layers[layer].inner_weight;
    const at::Tensor inputs = inputs_of(config, weights.layers[layer], work.layers[layer], rows.rows());
    const float* answers = work.layers[layer].inner.floats(rows.rows() * config.inner);
    if (!std::all_of(answers, answers + rows.rows() * config.inner,
                     [](float x) { return std::isfinite(x); }) ||
        !inputs.isfinite().all().item<bool>()) {
      found.push_back({name, EvidenceKind::huge_values, kLargestRatio, 1e3,
                       "what it reads of random tokens leaves the range of numbers"});
      return;
    }
    check_answers(name, answers, rows.rows(), config.inner, found);
    check_twins(name, layer_views(model, model.parameters(), layer), used_directions(inputs),
                seed.derive("outputs"), found);
  });
}

}  // namespace undertext
