#include <benchmark/benchmark.h>

#include "attacks/exact_sentences.h"
#include "attacks/words.h"
#include "base/threads.h"
#include "federated/local_training.h"
#include "keyboard.h"
#include "tensors/named_tensors.h"

namespace undertext {
namespace {

Observation one_step(std::int64_t count) {
  const std::shared_ptr<LanguageModel> model = keyboard_model();
  const std::string hash = hash_of(model->parameters());
  return observe(model, hash, train_locally(*model, messages(static_cast<std::size_t>(count), 4), {}, hash));
}

// Every sentence of n messages of 4 words out of one step, nothing known.
void ExactSentences(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(1)));
  const Observation observation = one_step(state.range(0));
  for (auto _ : state) {
    const SentenceRecovery recovery = recover_exact_sentences(observation, {});
    state.counters["certified"] = recovery.certified ? 1 : 0;
  }
}
BENCHMARK(ExactSentences)
    ->ArgNames({"n", "threads"})
    ->Args({16, 1})
    ->Args({16, 2})
    ->Args({64, 1})
    ->Args({64, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

void WordsByRows(benchmark::State& state) {
  set_threads(0);
  const Observation observation = one_step(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(recover_words_by_rows(observation).words.data());
}
BENCHMARK(WordsByRows)->ArgName("n")->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace undertext
