// Our side of bench/rows/transformer.py; see worker.h. A model of GPT-2's smallest shape with random weights.
// prepare    writes the model to DATA
// gradient   seconds for the gradient of 16 texts of 40 tokens
// loss       of these texts, on the mean
// memory     bytes that the gradient takes at its peak beyond weights and gradients
// beam       seconds to read one more token after each of 32 prefixes of 39, and to score 300 tokens
// best       sum of the scores of those 300 tokens
#include <numeric>

#include "base/memory.h"
#include "gpt2_shape.h"
#include "models/some_words.h"
#include "models/transformer/reader.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::int64_t kTexts = 16, kTokens = 40, kBeams = 32, kAllowed = 300;

// The same numbers as the reference makes: token t of text n.
Token token(std::int64_t n, std::int64_t t) {
  return static_cast<Token>((n * 7919 + t * 104729 + 17) % 50257);
}

struct Gradient {
  explicit Gradient(const Transformer& model) {
    for (const auto& [name, tensor] : model.parameters()) tensors[name] = at::zeros_like(tensor);
    std::vector<Sentence> texts(kTexts);
    for (std::int64_t n = 0; n < kTexts; ++n)
      for (std::int64_t t = 0; t < kTokens; ++t) texts[static_cast<std::size_t>(n)].push_back(token(n, t));
    examples = model.examples(texts);
  }
  double run(const Transformer& model) {
    constexpr double kPredicted = kTexts * (kTokens - 1);
    return model.add_gradient(examples, 1 / kPredicted, tensors) / kPredicted;
  }
  NamedTensors tensors;
  std::vector<Example> examples;
};

// 32 prefixes of 39 tokens that share their first 20, as beams do.
std::vector<StateId> prefixes(TransformerReader& reader) {
  std::vector<StateId> states(kBeams, -1);
  for (std::int64_t t = 0; t + 1 < kTokens; ++t) {
    if (t < 20) {
      const StateId next = reader.extend(std::vector<StateId>{states[0]}, std::vector<Token>{token(0, t)});
      std::fill(states.begin(), states.end(), next);
      continue;
    }
    std::vector<Token> tokens;
    for (std::int64_t n = 0; n < kBeams; ++n) tokens.push_back(token(n, t));
    const StateId first = reader.extend(states, tokens);
    std::iota(states.begin(), states.end(), first);
  }
  return states;
}

double step(const Transformer& model, TransformerReader& reader, const std::vector<StateId>& states,
            double& best) {
  std::vector<Token> tokens, allowed;
  for (std::int64_t n = 0; n < kBeams; ++n) tokens.push_back(token(n, kTokens - 1));
  for (std::int64_t i = 0; i < kAllowed; ++i) allowed.push_back(static_cast<Token>(i * 167));
  const SomeWords words(model, allowed);  // gathered once for a search
  const double began = seconds();
  const StateId next = reader.extend(states, tokens);
  const Matrix<float> logits = words.logits(reader.hidden(next), kBeams);
  const double took = seconds() - began;
  best = std::accumulate(logits.data.begin(), logits.data.end(), 0.0);
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  const std::shared_ptr<Transformer> model = Transformer::random(smallest_gpt2(), Seed(1));
  Gradient gradient(*model);
  double loss = 0, best = 0;
  const auto timed = [&] {
    const double began = seconds();
    loss = gradient.run(*model);
    return seconds() - began;
  };
  return answer_questions({
      {"prepare",
       [&] {
         model->save(folders.data);
         return 0.0;
       }},
      {"memory",
       [&] {
         reset_peak_memory();
         const std::int64_t before = peak_memory();
         timed();
         return static_cast<double>(peak_memory() - before);
       }},
      {"gradient", timed},
      {"loss", [&] { return loss; }},
      {"beam",
       [&] {
         TransformerReader reader(model);
         return step(*model, reader, prefixes(reader), best);
       }},
      {"best", [&] { return best; }},
  });
}
