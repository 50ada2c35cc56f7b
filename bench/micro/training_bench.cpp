#include <benchmark/benchmark.h>
#include <cblas.h>
#include <torch/torch.h>

#include "base/threads.h"
#include "defences/noise.h"
#include "federated/local_training.h"
#include "keyboard.h"
#include "models/output_layer.h"
#include "models/prefix_tree.h"

namespace undertext {
namespace {

void Sgemm(benchmark::State& state) {
  set_threads(1);
  const int n = static_cast<int>(state.range(0));
  const std::vector<float> a(static_cast<std::size_t>(n) * n, 0.5f), b = a;
  std::vector<float> c(a.size());
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(),
                n);
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Sgemm)->Arg(1024)->Unit(benchmark::kMillisecond);

// Loss and gradient of n messages of 4 words.
void Gradient(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(1)));
  const auto model = keyboard_model();
  const auto texts = messages(static_cast<std::size_t>(state.range(0)), 4);
  NamedTensors gradient;
  for (const std::string& name : model->trainable(false))
    gradient[name] = torch::zeros_like(model->parameters().at(name));
  for (auto _ : state) benchmark::DoNotOptimize(model->add_gradient(texts, 1, gradient));
}
BENCHMARK(Gradient)
    ->ArgNames({"n", "threads"})
    ->Args({1, 1})
    ->Args({32, 1})
    ->Args({256, 1})
    ->Args({256, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Output layer, softmax, cross-entropy and their gradient for the contexts of 32 messages.
void OutputLayer(benchmark::State& state) {
  set_threads(1);
  const auto model = keyboard_model();
  const auto texts = messages(32, 4);
  const PrefixTree tree(texts, 1);
  const at::Tensor h = torch::randn({tree.rows(), 96}), d_h = torch::empty_like(h);
  const at::Tensor weight = model->parameters().at("decoder.weight"),
                   bias = model->parameters().at("decoder.bias");
  const at::Tensor d_weight = torch::zeros_like(weight), d_bias = torch::zeros_like(bias);
  const OutputWeights output{9502, 96, weight.data_ptr<float>(), bias.data_ptr<float>()};
  const OutputGradient gradient{d_h.data_ptr<float>(), d_weight.data_ptr<float>(), d_bias.data_ptr<float>(),
                                1};
  std::vector<double> log_probability(tree.target.size());
  OutputWorkspace workspace;
  for (auto _ : state)
    output_layer(output, h.data_ptr<float>(), tree, log_probability.data(), &gradient, workspace);
}
BENCHMARK(OutputLayer)->Unit(benchmark::kMillisecond);

// One epoch of 256 messages in batches of 32.
void TrainingEpoch(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const auto model = keyboard_model();
  const auto texts = messages(256, 4);
  const std::string hash(64, '0');
  for (auto _ : state) benchmark::DoNotOptimize(train_locally(*model, texts, {.batch = 32}, hash));
}
BENCHMARK(TrainingEpoch)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// One token appended to n states, and the logits after it: the inner step of a search.
void ReadToken(benchmark::State& state) {
  set_threads(1);
  const auto model = keyboard_model();
  const auto before = model->start_state(state.range(0));
  const std::vector<Token> tokens(static_cast<std::size_t>(state.range(0)), 7);
  for (auto _ : state) benchmark::DoNotOptimize(model->logits(model->step(before, tokens).h).data_ptr());
}
BENCHMARK(ReadToken)->ArgName("n")->Arg(1)->Arg(256)->Unit(benchmark::kMillisecond);

// Noise on every trained weight of the keyboard's model: what Algorithm 3 adds to each step.
void Noise(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const auto model = keyboard_model();
  NamedTensors gradient;
  for (const std::string& name : model->trainable(false))
    gradient[name] = torch::zeros_like(model->parameters().at(name));
  const NoisePerStep noise(0.1, Seed(1));
  std::int64_t step = 0;
  for (auto _ : state) noise.on_gradient(gradient, step++);
}
BENCHMARK(Noise)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace undertext
