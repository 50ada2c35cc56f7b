// What the neurons answer, whatever their weights look like: noise in entries that no input uses hides
// parallel rows from whoever looks at the weights, not from whoever asks.
#include <ATen/ATen.h>

#include <cmath>

#include "defences/inspection/checks.h"

namespace undertext {
namespace {

constexpr std::int64_t kSequences = 4, kLength = 32;
constexpr double kTwins = 0.8;  // rank correlation of two neurons that answer alike
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

// inner: (rows, neurons). The ranks of each neuron's answers as a vector of length 1, zero for one that
// always answers the same: (neurons, rows).
at::Tensor ranked_answers(const float* inner, std::int64_t rows, std::int64_t neurons) {
  at::Tensor result = at::zeros({neurons, rows});
  std::vector<double> answers(static_cast<std::size_t>(rows));
  const double middle = static_cast<double>(rows - 1) / 2;
  for (std::int64_t j = 0; j < neurons; ++j) {
    for (std::int64_t r = 0; r < rows; ++r) answers[static_cast<std::size_t>(r)] = inner[r * neurons + j];
    const std::vector<double> ranks = ranks_of(answers);
    double square = 0;
    for (const double rank : ranks) square += (rank - middle) * (rank - middle);
    if (square == 0) continue;
    float* out = result.data_ptr<float>() + j * rows;
    for (std::int64_t r = 0; r < rows; ++r)
      out[r] = static_cast<float>((ranks[static_cast<std::size_t>(r)] - middle) / std::sqrt(square));
  }
  return result;
}

// Neurons that answer like at least `crowd` others.
std::int64_t in_crowds(const at::Tensor& answers, std::int64_t crowd) {
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < answers.size(0); first += kBlock) {
    const at::Tensor block = answers.narrow(0, first, std::min(kBlock, answers.size(0) - first));
    const at::Tensor alike = block.mm(answers.t()).abs().gt(kTwins).sum({1});  // itself too
    count += alike.gt(crowd).sum().item<std::int64_t>();
  }
  return count;
}

}  // namespace

void check_neurons(const Transformer& model, Seed seed, Findings& findings) {
  const TransformerConfig& config = model.config();
  const TransformerWeights weights = model.weights();
  const TokenRows rows = random_tokens(config, seed.derive("canary"));
  TransformerWorkspace work;
  TransformerPass(config, model.names(), weights, rows, std::nullopt, work)
      .forward(std::vector<std::int64_t>{0});
  const std::int64_t r = rows.rows(), f = config.inner;

  // Answers to inputs of few dimensions are alike by chance: of the directions in m dimensions a share below
  // (1 - c^2)^((m - 1) / 2) has a cosine above c with a given one.
  const auto dimensions = static_cast<double>(std::min({config.width, config.positions, config.vocabulary}));
  const double chance = std::pow(1 - kTwins * kTwins, (dimensions - 1) / 2);
  const auto crowd = std::max<std::int64_t>(
      8, static_cast<std::int64_t>(std::ceil(static_cast<double>(f) * std::min(1.0, 0.01 + 4 * chance))));
  for_layers(model, findings, [&](std::size_t layer, Findings& found) {
    const std::string& name = model.names().layers[layer].inner_weight;
    const float* inner = work.layers[layer].inner.floats(r * f);
    if (!std::all_of(inner, inner + r * f, [](float x) { return std::isfinite(x); })) {
      found.push_back({name, EvidenceKind::huge_values, kLargestRatio, 1e3,
                       "its neurons' answers to random tokens leave the range of numbers"});
      return;
    }
    const double share =
        static_cast<double>(in_crowds(ranked_answers(inner, r, f), crowd)) / static_cast<double>(f);
    found.push_back({name, EvidenceKind::twin_neurons, share, 0.05,
                     fmt::format("to random tokens {:.3g} of {} neurons answer like at least {} others",
                                 share, f, crowd)});
  });
}

}  // namespace undertext
