// What a malicious server spends on one gradient: the 3-layer transformer of decepticons, 50257 tokens.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "attacks/decepticons/corrupt.h"
#include "attacks/decepticons/readout.h"
#include "base/threads.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

constexpr std::int64_t kVocabulary = 50257;

// As often as words of a text: the token of rank r about 1 / r times (Zipf).
std::vector<Sentence> zipf_texts(std::int64_t sequences, std::int64_t length) {
  Random random{Seed(5)};
  std::vector<Sentence> texts(static_cast<std::size_t>(sequences));
  for (Sentence& text : texts)
    while (static_cast<std::int64_t>(text.size()) < length) {
      const double rank = std::pow(static_cast<double>(kVocabulary), random.uniform());
      text.push_back(static_cast<Token>(std::min<double>(rank, kVocabulary) - 1));
    }
  return texts;
}

struct Attacked {
  DecepticonKey key;
  Observation observation;
};

Attacked attacked(DecepticonDesign design, std::int64_t sequences, std::int64_t length) {
  TransformerConfig config;
  config.vocabulary = kVocabulary;
  const CorruptedState state =
      corrupt(*Transformer::random(config, Seed(1)), {.design = design, .length = length});
  const LocalTraining training{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient};
  const std::string& hash = state.key.state_hash;
  return {state.key, observe(state.model, hash,
                             train_locally(*state.model, zipf_texts(sequences, length), training, hash))};
}

void read_gradient(benchmark::State& state, DecepticonDesign design, auto readout) {
  set_threads(1);
  const Attacked given = attacked(design, state.range(0), state.range(1));
  DecepticonOptions options;
  options.sequences = state.range(0);
  for (auto _ : state)
    benchmark::DoNotOptimize(readout(given.observation, given.key, options).sequences.data());
}

void PublishedReadout(benchmark::State& state) {
  read_gradient(state, DecepticonDesign::paper, read_as_in_paper);
}
void BestReadoutOfPublishedState(benchmark::State& state) {
  read_gradient(state, DecepticonDesign::paper, read_exactly);
}
void BestReadout(benchmark::State& state) {
  read_gradient(state, DecepticonDesign::best, read_exactly);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"sequences", "length"})->Unit(benchmark::kMillisecond);
  for (const auto& [sequences, length] : {std::pair{1, 32}, {8, 32}, {32, 32}, {128, 32}, {1, 512}, {8, 512}})
    bench->Args({sequences, length});
}
BENCHMARK(PublishedReadout)->Apply(sizes);
BENCHMARK(BestReadoutOfPublishedState)->Apply(sizes);
BENCHMARK(BestReadout)->Apply(sizes);

}  // namespace
}  // namespace undertext
