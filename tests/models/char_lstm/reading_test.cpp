#include <gtest/gtest.h>

#include <cmath>

#include "models/char_lstm/reader.h"
#include "models/char_lstm/small_char_lstm.h"
#include "models/read_prefixes.h"
#include "models/some_words.h"

namespace undertext {
namespace {

std::vector<double> log_probabilities(const CharLstm& model, const float* h) {
  std::vector<Token> all(static_cast<std::size_t>(model.vocabulary_size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Token>(i);
  const Matrix<float> logits = SomeWords(model, all).logits(h, 1);
  double sum = 0;
  for (const float logit : logits.data) sum += std::exp(static_cast<double>(logit));
  std::vector<double> result;
  for (const float logit : logits.data) result.push_back(logit - std::log(sum));
  return result;
}

TEST(CharLstmReader, SeesWhatReadingWholeSentencesSees) {
  const std::shared_ptr<const CharLstm> model = small_char_lstm(small_char_config(3));
  const auto reader = read_prefixes(model);
  EXPECT_EQ(reader->width(), 19);
  const std::vector<Sentence> texts = random_texts(1, 300, 2, 6, 11);
  const std::vector<double> want = model->negative_log_likelihood(texts);
  std::vector<double> got(texts.size(), 0.0);
  std::vector<StateId> state(texts.size(), -1);
  for (std::size_t step = 0; step < 5; ++step) {
    std::vector<StateId> from;
    std::vector<Token> tokens;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].size() < step + 2) continue;
      from.push_back(state[i]);
      tokens.push_back(texts[i][step]);
      which.push_back(i);
    }
    const StateId first = reader->extend(from, tokens);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const std::size_t i = which[k];
      state[i] = first + static_cast<StateId>(k);
      got[i] -=
          log_probabilities(*model, reader->hidden(state[i]))[static_cast<std::size_t>(texts[i][step + 1])];
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5 * want[i]);
}

TEST(CharLstmReader, KeepsSomeStatesAndStartsAfresh) {
  const auto model = small_char_lstm(small_char_config());
  CharLstmReader reader(*model);
  reader.extend(std::vector<StateId>{-1, -1, -1}, std::vector<Token>{3, 8, 2});
  EXPECT_EQ(reader.extend(std::vector<StateId>{1, 2}, std::vector<Token>{5, 6}), 3);
  const std::vector<float> kept(reader.hidden(4), reader.hidden(4) + reader.width());
  reader.keep(std::vector<StateId>{1, 4});
  EXPECT_EQ(std::vector<float>(reader.hidden(1), reader.hidden(1) + reader.width()), kept);
  // "8" read on once more gives what it gave before.
  const StateId again = reader.extend(std::vector<StateId>{0, 1}, std::vector<Token>{5, 4});
  EXPECT_EQ(again, 2);
  const auto other = reader.fresh();
  other->extend(std::vector<StateId>{-1}, std::vector<Token>{2});
  other->extend(std::vector<StateId>{0}, std::vector<Token>{6});
  other->extend(std::vector<StateId>{1}, std::vector<Token>{4});
  for (std::int64_t j = 0; j < reader.width(); ++j)
    EXPECT_NEAR(other->hidden(2)[j], reader.hidden(3)[j], 1e-6);
  reader.clear();
  EXPECT_EQ(reader.extend(std::vector<StateId>{-1}, std::vector<Token>{4}), 0);
}

// A text in pieces that overlap by one character, the state carried on, has the loss of the whole text.
TEST(CharLstm, CarriesItsStateFromPieceToPiece) {
  const auto model = small_char_lstm(small_char_config());
  const std::vector<Sentence> whole = random_texts(7, 5, 41, 41, 11);
  const std::vector<double> want = model->negative_log_likelihood(whole);
  LstmState state;
  NamedTensors gradient = zero_gradient(*model), reset = zero_gradient(*model);
  double carried = 0, afresh = 0;
  for (const auto& [from, to] : {std::pair{0, 8}, {8, 9}, {9, 40}}) {
    std::vector<Sentence> pieces;
    for (const Sentence& text : whole) pieces.emplace_back(text.begin() + from, text.begin() + to + 1);
    carried += model->add_gradient_from(state, pieces, 1, gradient);
    afresh += model->add_gradient(pieces, 1, reset);
  }
  EXPECT_NEAR(carried, total(want), 1e-6 * total(want));
  EXPECT_GT(std::abs(afresh - total(want)), 1e-3 * total(want));
  ASSERT_EQ(state.h.size(), 2u * 5 * 19);
}

// A carried state's gradient is that of the piece alone, the state held fixed.
TEST(CharLstm, GradientStopsWhereTheStateWasCarriedOver) {
  const auto model = small_char_lstm(small_char_config());
  const std::vector<Sentence> before = random_texts(8, 3, 6, 6, 11);
  // The longest is not the first: states must follow their sentences.
  std::vector<Sentence> texts = random_texts(9, 3, 4, 4, 11);
  texts[2].push_back(3);
  texts[1].pop_back();
  LstmState start;
  NamedTensors ignored;
  model->add_gradient_from(start, before, 1, ignored);
  NamedTensors gradient = zero_gradient(*model);
  LstmState state = start;
  model->add_gradient_from(state, texts, 1, gradient);
  for (const auto& [name, tensor] : model->parameters()) {
    const at::Tensor saved = tensor.clone();
    at::Tensor weight = tensor;
    const double norm = gradient.at(name).norm().item<double>(), step = 2e-2 / norm;
    double loss[2];
    for (const int side : {0, 1}) {
      weight.copy_(saved + (side == 0 ? step : -step) * gradient.at(name));
      LstmState own = start;
      loss[side] = model->add_gradient_from(own, texts, 1, ignored);
    }
    weight.copy_(saved);
    EXPECT_NEAR((loss[0] - loss[1]) / (2 * step * norm), norm, 5e-3 * norm) << name;
  }
}

// Long texts are read window by window.
TEST(CharLstm, ReadsLongTextsAsWell) {
  const auto model = small_char_lstm(small_char_config());
  const std::vector<Sentence> texts = random_texts(10, 4, 1000, 1600, 11);
  NamedTensors nothing;
  const double whole = model->add_gradient(texts, 1, nothing);
  EXPECT_NEAR(total(model->negative_log_likelihood(texts)), whole, 1e-6 * whole);
}

// Without weights the decoder's bias alone decides: two characters with odds 3 to 1.
TEST(BitsPerCharacter, ByHand) {
  NamedTensors parameters = random_parameters(small_char_config(1), Seed(1));
  for (auto& [name, tensor] : parameters) tensor.zero_();
  parameters.at("decoder.bias").fill_(-1e4f);
  parameters.at("decoder.bias")[3] = static_cast<float>(std::log(3.0));
  parameters.at("decoder.bias")[5] = 0;
  const CharLstm model(small_char_config(1), parameters);
  const std::vector<Sentence> texts = {{9, 3, 5}, {5}, {7, 5}};
  EXPECT_EQ(model.predicted(texts), 3);
  const double want = (std::log2(4.0 / 3) + 2 * std::log2(4.0)) / 3;
  EXPECT_NEAR(bits_per_character(model, texts), want, 1e-6);
  EXPECT_NEAR(perplexity(model, texts), std::pow(2.0, want), 1e-5);
}

}  // namespace
}  // namespace undertext
