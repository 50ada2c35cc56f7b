#include "defences/inspection/honest_states.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <sstream>

#include "models/adam.h"
#include "models/cifg_lstm.h"
#include "models/transformer/transformer.h"
#include "text/messages.h"

namespace undertext {
namespace {

// The built-in messages as numbers; the last number is left free, to hide words with.
struct Texts {
  std::vector<Sentence> sentences;
  std::int64_t vocabulary = 3;  // after the three that a keyboard's model needs
};

const Texts& texts() {
  static const Texts all = [] {
    Texts result;
    std::map<std::string, Token> ids;
    for (const std::string& message : generate_messages(Seed(11), 3000)) {
      std::istringstream words(message);
      Sentence sentence;
      for (std::string word; words >> word;) {
        const auto [found, fresh] = ids.try_emplace(word, static_cast<Token>(result.vocabulary));
        if (fresh) ++result.vocabulary;
        sentence.push_back(found->second);
      }
      if (sentence.size() > 2) result.sentences.push_back(std::move(sentence));
    }
    ++result.vocabulary;
    return result;
  }();
  return all;
}

struct Size {
  std::int64_t width, heads, inner, layers;
};
constexpr Size kSizes[] = {{16, 2, 64, 1},   {32, 4, 128, 2}, {64, 4, 256, 2},  {48, 4, 96, 3},
                           {96, 8, 1536, 3}, {64, 8, 768, 4}, {128, 4, 512, 6}, {256, 8, 1024, 2}};

struct Way {
  const char* name;
  std::int64_t steps;
  double rate;
  std::int64_t more_steps;  // of the round after, at more_rate: fine-tuning
  double more_rate;
};
constexpr Way kWays[] = {{"as initialised", 0, 0, 0, 0},
                         {"5 steps at 1e-3", 4, 1e-3, 1, 1e-3},
                         {"60 steps at 1e-3", 50, 1e-3, 10, 1e-3},
                         {"100 steps at 1e-4", 90, 1e-4, 10, 1e-4},
                         {"150 steps at 1e-3, 40 of fine-tuning at 1e-4", 150, 1e-3, 40, 1e-4},
                         {"40 steps at 1e-2", 30, 1e-2, 10, 1e-2},
                         {"300 steps at 1e-3", 280, 1e-3, 20, 1e-3},
                         {"200 steps at 3e-3, 50 of fine-tuning at 1e-3", 200, 3e-3, 50, 1e-3}};

constexpr const char* kSchemes[] = {"its framework's initialisation", "torch's linear layers",
                                    "Glorot normal", "He normal", "N(0, .02) throughout"};

// Matrices and, as torch does, biases by other initialisations than the model's own.
void initialise(Transformer& model, std::size_t scheme, Seed seed) {
  if (scheme == 0) return;
  const TransformerNames& names = model.names();
  for (const auto& [name, parameter] : model.parameters()) {
    at::Tensor tensor = parameter;
    const bool embedding =
        name == names.token_embedding || name == names.position_embedding || name == names.type_embedding;
    const bool matrix = tensor.dim() == 2, norm = !matrix && tensor.mean().item<double>() == 1;
    if (norm || (!matrix && scheme != 1)) continue;
    const auto size = [&](std::int64_t i) { return static_cast<double>(tensor.size(i)); };
    const double in = matrix ? size(names.inputs_first ? 0 : 1) : static_cast<double>(model.config().width);
    const double out = matrix ? size(names.inputs_first ? 1 : 0) : 1;
    double deviation = 0.02;
    if (scheme == 1) deviation = embedding ? 1 : 1 / std::sqrt(3 * in);
    if (scheme == 2) deviation = embedding ? 0.1 : std::sqrt(2 / (in + out));
    if (scheme == 3) deviation = embedding ? 0.1 : std::sqrt(2 / in);
    Random draw(seed.derive(name));
    float* values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      values[i] = static_cast<float>(deviation * (scheme == 1 && !embedding
                                                      ? (2 * draw.uniform() - 1) * std::sqrt(3.0)
                                                      : draw.normal()));
  }
}

std::shared_ptr<LanguageModel> fresh_transformer(TransformerKind kind, const Size& size, std::size_t scheme,
                                                 Seed seed) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = texts().vocabulary;
  config.width = size.width;
  config.heads = size.heads;
  config.inner = size.inner;
  config.layers = size.layers;
  config.positions = 64;
  if (kind == TransformerKind::gpt2) {
    config.norm_first = config.causal = config.tied = true;
    config.activation = Activation::gelu_tanh;
  } else if (kind == TransformerKind::bert) {
    config.types = 2;
    config.tied = true;
    config.activation = Activation::gelu;
  }
  std::shared_ptr<Transformer> model = Transformer::random(config, seed.derive("weights"));
  initialise(*model, scheme, seed.derive("scheme"));
  model->set_mask(static_cast<Token>(config.vocabulary - 1));
  return model;
}

void train(LanguageModel& model, Adam& adam, std::int64_t steps, double rate, Seed seed) {
  Random draw(seed);
  for (std::int64_t i = 0; i < steps; ++i) {
    std::vector<Sentence> batch;
    for (int s = 0; s < 8; ++s) batch.push_back(texts().sentences[draw.below(texts().sentences.size())]);
    model.randomise(seed.derive("step").derive(static_cast<std::uint64_t>(i)));
    adam.step(batch, rate);
  }
  model.randomise(std::nullopt);
}

}  // namespace

HonestState honest_state(std::int64_t index, bool cheap) {
  const auto i = static_cast<std::size_t>(index);
  const Seed seed = Seed(17).derive(i);
  Random draw(seed.derive("choice"));
  const Size& size = kSizes[draw.below(cheap ? 4 : std::size(kSizes))];
  const Way& way = kWays[(i / 3) % (cheap ? 6 : std::size(kWays))];
  const std::size_t scheme = draw.below(std::size(kSchemes));
  HonestState state;
  if (i % 16 == 15) {
    state.model =
        CifgLstm::random({.vocabulary = texts().vocabulary, .embedding = size.width, .units = size.inner},
                         seed.derive("weights"));
    state.says = fmt::format("cifg-lstm {}x{}, {}", size.width, size.inner, way.name);
  } else {
    constexpr TransformerKind kKinds[] = {TransformerKind::plain, TransformerKind::gpt2,
                                          TransformerKind::bert};
    const TransformerKind kind = kKinds[i % 3];
    state.model = fresh_transformer(kind, size, scheme, seed);
    state.says =
        fmt::format("{} {}x{}, {}, {}", name_of(kind), size.width, size.layers, kSchemes[scheme], way.name);
  }
  if (way.steps == 0) return state;
  Adam adam(*state.model, {}, state.model->trainable(true));
  train(*state.model, adam, way.steps, way.rate, seed.derive("training"));
  state.previous = state.model->clone();
  train(*state.model, adam, way.more_steps, way.more_rate, seed.derive("round"));
  return state;
}

}  // namespace undertext
