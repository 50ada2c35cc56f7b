// Our side of bench/rows/client_gradient.py; see worker.h. The 3-layer transformer of decepticons with random
// weights, and a client that sends one gradient.
// prepare    writes the model to DATA
// gradient   seconds for what the client sends: the gradient of 128 sequences of 32 tokens
// norm       Euclidean norm of the gradient
// memory     bytes of the whole process at its peak while it computes the gradient
#include <ATen/ATen.h>

#include <cmath>

#include "base/memory.h"
#include "federated/local_training.h"
#include "models/transformer/transformer.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::int64_t kSequences = 128, kTokens = 32, kVocabulary = 50257;

// The same numbers as the reference makes.
std::vector<Sentence> sequences() {
  std::vector<Sentence> texts(kSequences);
  for (std::int64_t n = 0; n < kSequences; ++n)
    for (std::int64_t t = 0; t < kTokens; ++t)
      texts[static_cast<std::size_t>(n)].push_back(
          static_cast<Token>((n * 7919 + t * 104729 + 17) % kVocabulary));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  TransformerConfig config;
  config.vocabulary = kVocabulary;
  const std::unique_ptr<Transformer> model = Transformer::random(config, Seed(1));
  const std::vector<Sentence> texts = sequences();
  const LocalTraining training{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient};
  Update update;
  const auto gradient = [&] {
    const double began = seconds();
    update = train_locally(*model, texts, training, std::string(64, '0'));
    return seconds() - began;
  };
  return answer_questions({
      {"prepare",
       [&] {
         model->save(folders.data);
         return 0.0;
       }},
      {"gradient", gradient},
      {"norm",
       [&] {
         double squares = 0;
         for (const auto& [name, tensor] : update.tensors)
           squares += std::pow(at::norm(tensor, 2, at::kDouble).item<double>(), 2);
         return std::sqrt(squares);
       }},
      {"memory",
       [&] {
         reset_peak_memory();
         gradient();
         return static_cast<double>(peak_memory());
       }},
  });
}
