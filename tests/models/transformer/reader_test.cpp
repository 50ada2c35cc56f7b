#include "models/transformer/reader.h"

#include <gtest/gtest.h>

#include "models/some_words.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

// Logits after the last token of a prefix, by reading it whole.
at::Tensor whole(const Transformer& model, const Sentence& prefix) {
  return model.logits(std::vector<Example>{next_word_example(prefix)})[-1];
}

at::Tensor by_reader(const Transformer& model, const TransformerReader& reader, StateId state) {
  std::vector<Token> all(static_cast<std::size_t>(model.vocabulary_size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Token>(i);
  const Matrix<float> logits = SomeWords(model, all).logits(reader.hidden(state), 1);
  return at::tensor(logits.data);
}

std::vector<std::shared_ptr<Transformer>> causal_models() {
  TransformerConfig plain = small_config(TransformerKind::plain);
  plain.causal = true;
  return {small_transformer(small_config(TransformerKind::gpt2)), small_transformer(plain)};
}

TEST(TransformerReader, SeesWhatReadingThePrefixWholeSees) {
  for (const auto& model : causal_models()) {
    TransformerReader reader(model);
    // 3 -> {1 -> 4, 5}, 8, read breadth first as a beam does.
    const StateId roots = reader.extend(std::vector<StateId>{-1, -1}, std::vector<Token>{3, 8});
    const StateId second = reader.extend(std::vector<StateId>{roots, roots}, std::vector<Token>{1, 5});
    const StateId third = reader.extend(std::vector<StateId>{second}, std::vector<Token>{4});
    const std::vector<std::pair<StateId, Sentence>> cases = {
        {roots, {3}}, {roots + 1, {8}}, {second, {3, 1}}, {second + 1, {3, 5}}, {third, {3, 1, 4}}};
    for (const auto& [state, prefix] : cases)
      EXPECT_LT((by_reader(*model, reader, state) - whole(*model, prefix)).abs().max().item<double>(), 1e-4)
          << model->kind() << " " << prefix.size();
  }
}

TEST(TransformerReader, ReadsATreeAtOnce) {
  for (const auto& model : causal_models()) {
    TransformerReader reader(model);
    // 3 -> {1 -> {4, 6}, 5}, each beside what it follows.
    reader.extend(std::vector<StateId>{-1, 0, 0, 1, 1}, std::vector<Token>{3, 1, 5, 4, 6});
    const std::vector<std::pair<StateId, Sentence>> cases = {
        {0, {3}}, {1, {3, 1}}, {2, {3, 5}}, {3, {3, 1, 4}}, {4, {3, 1, 6}}};
    for (const auto& [state, prefix] : cases)
      EXPECT_LT((by_reader(*model, reader, state) - whole(*model, prefix)).abs().max().item<double>(), 1e-4)
          << model->kind() << " " << prefix.size();
  }
}

TEST(TransformerReader, KeepsSomeStatesWithAllThatCameBefore) {
  const std::shared_ptr<Transformer> model = small_transformer(small_config(TransformerKind::gpt2));
  TransformerReader reader(model);
  reader.extend(std::vector<StateId>{-1, -1}, std::vector<Token>{3, 8});
  reader.extend(std::vector<StateId>{0, 1}, std::vector<Token>{1, 5});
  reader.keep(std::vector<StateId>{3});  // "8 5"; the state of "8" is gone, its keys are not
  const StateId next = reader.extend(std::vector<StateId>{0}, std::vector<Token>{2});
  EXPECT_EQ(next, 1);
  EXPECT_LT((by_reader(*model, reader, next) - whole(*model, {8, 5, 2})).abs().max().item<double>(), 1e-4);
  reader.clear();
  EXPECT_EQ(reader.extend(std::vector<StateId>{-1}, std::vector<Token>{4}), 0);
}

TEST(SomeWords, AreTheRowsOfTheWholeOutputLayer) {
  const auto model = small_transformer(small_config(TransformerKind::plain));
  const std::vector<Token> words = {36, 0, 7};
  const std::vector<float> h = {1, -2, 3, 0, 0.5, 1, 1, 2, -1, 0, 0, 4};
  const Matrix<float> some = SomeWords(*model, words).logits(h.data(), 1);
  const at::Tensor weight = model->parameters().at("decoder.weight"),
                   bias = model->parameters().at("decoder.bias");
  for (std::int64_t i = 0; i < 3; ++i) {
    const Token word = words[static_cast<std::size_t>(i)];
    const double expected = (weight[word] * at::tensor(h)).sum().item<double>() + bias[word].item<double>();
    EXPECT_NEAR(some(0, i), expected, 1e-5);
  }
}

}  // namespace
}  // namespace undertext
