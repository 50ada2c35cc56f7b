#include "audit/public_transformer.h"

#include <algorithm>

#include "audit/version.h"
#include "base/sha256.h"
#include "models/transformer/transformer.h"
#include "text/corpus.h"
#include "text/load_tokenizer.h"
#include "text/messages.h"
#include "text/restricted_tokenizer.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

// The sizes of decepticons' small encoder are those of a config that says nothing.
TransformerConfig encoder(Activation activation) {
  TransformerConfig config;
  config.activation = activation;
  return config;
}

TransformerConfig gpt2(std::int64_t width, std::int64_t layers, std::int64_t heads, std::int64_t positions) {
  TransformerConfig config;
  config.kind = TransformerKind::gpt2;
  config.width = width;
  config.layers = layers;
  config.heads = heads;
  config.inner = 4 * width;
  config.positions = positions;
  config.activation = Activation::gelu_tanh;
  config.norm_first = config.causal = config.tied = true;
  return config;
}

TransformerConfig bert(std::int64_t width, std::int64_t layers, std::int64_t heads, std::int64_t positions) {
  TransformerConfig config = gpt2(width, layers, heads, positions);
  config.kind = TransformerKind::bert;
  config.types = 2;
  config.activation = Activation::gelu;
  config.norm_epsilon = 1e-12;
  config.norm_first = config.causal = false;
  return config;
}

TransformerConfig with_dropout(TransformerConfig config) {
  config.embedding_dropout = config.attention_dropout = config.residual_dropout = 0.1;
  return config;
}

struct Words {
  std::vector<std::string> messages;  // public ones; empty where the tokenizer comes from elsewhere
  std::shared_ptr<const Tokenizer> tokenizer;
};

Words words_of(const TransformerRecipe& recipe) {
  if (!recipe.tokenizer.empty()) {
    const std::shared_ptr<const Tokenizer> whole = load_tokenizer(recipe.tokenizer);
    if (recipe.restrict_to.empty()) return {{}, whole};
    return {{}, restrict_to(*whole, read_lines(recipe.restrict_to)).tokenizer};
  }
  std::vector<std::string> messages = generate_messages(Seed(recipe.seed).derive("public"), recipe.messages);
  auto vocabulary = std::make_shared<const Vocabulary>(build_vocabulary(messages, recipe.vocabulary));
  return {std::move(messages), std::move(vocabulary)};
}

std::string key_of(const TransformerRecipe& recipe, const Words& words) {
  const Training& t = recipe.training;
  const TransformerConfig& c = recipe.config;
  Sha256 sum;
  sum.add_string(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", kVersion, name_of(c.kind), c.width, c.layers,
                             c.heads, c.inner, c.positions, name_of(c.activation), c.residual_dropout,
                             recipe.trained, recipe.seed));
  if (recipe.trained) sum.add_string(fmt::format("{} {} {}", t.epochs, t.batch, t.learning_rate));
  for (const std::string& message : words.messages) sum.add_string(message);
  for (Token id = 0; id < words.tokenizer->size(); ++id) sum.add_string(words.tokenizer->token(id));
  return sum.hex();
}

ModelFolder made(const TransformerRecipe& recipe, const Words& words) {
  const Seed seed(recipe.seed);
  const SpecialTokens special = words.tokenizer->special();
  TransformerConfig config = recipe.config;
  config.vocabulary = words.tokenizer->size();
  config.start = special.start.value_or(-1);
  config.end = special.end.value_or(-1);
  config.padding = special.padding.value_or(-1);
  std::shared_ptr<Transformer> model = Transformer::random(config, seed.derive("weights"));
  model->set_mask(special.mask ? special.mask : special.unknown);  // words have no mark of their own for it
  if (recipe.trained) {
    std::vector<Sentence> sentences;
    for (const std::string& message : words.messages) sentences.push_back(words.tokenizer->encode(message));
    const std::size_t some = std::min<std::size_t>(sentences.size(), 200);
    train_model(*model, sentences, std::span(sentences).first(some), recipe.training,
                seed.derive("training"));
  }
  std::string hash = hash_of(model->parameters());
  return {std::move(model), words.tokenizer, std::move(hash)};
}

}  // namespace

std::optional<TransformerRecipe> recipe_named(const std::string& place) {
  if (place == "built-in:transformer") return TransformerRecipe{.config = encoder(Activation::relu)};
  if (place == "built-in:transformer-gelu") return TransformerRecipe{.config = encoder(Activation::gelu)};
  if (place == "built-in:gpt2") return TransformerRecipe{.config = gpt2(128, 2, 4, 64), .trained = true};
  if (place == "built-in:gpt2-2x128") return TransformerRecipe{.config = gpt2(128, 2, 4, 64)};
  if (place == "built-in:gpt2-4x256") return TransformerRecipe{.config = gpt2(256, 4, 8, 64)};
  if (place == "built-in:gpt2-mini") return TransformerRecipe{.config = with_dropout(gpt2(256, 6, 8, 1024))};
  if (place == "built-in:gpt2-small")
    return TransformerRecipe{.config = with_dropout(gpt2(768, 12, 12, 1024))};
  if (place == "built-in:bert-mini") return TransformerRecipe{.config = with_dropout(bert(256, 6, 8, 512))};
  if (place == "built-in:bert-base") return TransformerRecipe{.config = with_dropout(bert(768, 12, 12, 512))};
  return std::nullopt;
}

std::string public_transformer_key(const TransformerRecipe& recipe) {
  return key_of(recipe, words_of(recipe));
}

ModelFolder public_transformer(const TransformerRecipe& recipe,
                               const std::optional<std::filesystem::path>& cache, const Note& note) {
  const Words words = words_of(recipe);
  if (!recipe.trained) return made(recipe, words);
  return cached_model(cache, fmt::format("gpt2-{:.16}", key_of(recipe, words)), *words.tokenizer, note, [&] {
    note(fmt::format("training a small GPT-2 on {} public messages, once", recipe.messages));
    return made(recipe, words);
  });
}

}  // namespace undertext
