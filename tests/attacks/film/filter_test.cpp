#include "attacks/film/filter.h"

#include <gtest/gtest.h>

#include <numeric>

#include "attacks/film/own_text.h"
#include "attacks/film/step_set.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

// What the steps of a text respond by in its own gradient, in units of what they should, on the mean.
double response_of_the_last(double own_share) {
  const std::shared_ptr<const Transformer> model = Transformer::random(
      small_config(
          TransformerKind::gpt2,
          {.vocabulary = 150, .width = 48, .heads = 4, .inner = 192, .positions = 16, .deviation = 0.1}),
      Seed(3));
  const Tail tail(model);
  std::vector<Token> all(150);
  std::iota(all.begin(), all.end(), 0);
  const OwnText own = own_text(model, tail, all, 160, 12, Seed(5));
  Filter filter(own.contexts, own.steps, 12, 0.01);

  constexpr double kOne = 0.01;
  const std::vector<Sentence> last = {{17, 101, 5, 88, 42, 63, 9, 4, 77, 130, 21, 5, 90}};
  const StepSet set = steps_of(model, tail, last);
  TailGradient gradient{Matrix<double>(193, 48), Matrix<double>(49, 192), Matrix<double>(49, 48)};
  add_steps(set.contexts, set.rows, set.steps, std::vector<double>(set.rows.size(), kOne), gradient);
  filter.observe(gradient, own_share);
  const Sides left = filter.left(set.contexts);
  const std::vector<double> response = responses_of(tail, filter, set, left);
  const std::vector<double> energy = energies(left, set.rows, filter.right(set.steps));
  return std::accumulate(response.begin(), response.end(), 0.0) /
         (kOne * std::accumulate(energy.begin(), energy.end(), 0.0));
}

// Steps that are all the noise there is cancel themselves, unless the noise is taken from elsewhere.
TEST(Filter, TakesTheLastTextForNoiseUnlessItsNoiseIsTheModelsOwn) {
  const double from_itself = response_of_the_last(0), half = response_of_the_last(0.5),
               from_own = response_of_the_last(1);
  EXPECT_LT(from_itself, 0.7);
  EXPECT_LT(from_itself, half);
  EXPECT_LT(half, from_own);
  EXPECT_NEAR(from_own, 1, 0.1);
}

}  // namespace
}  // namespace undertext
