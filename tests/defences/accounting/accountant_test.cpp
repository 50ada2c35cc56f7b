#include "defences/accounting/accountant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "defences/accounting/gaussian_dp.h"
#include "defences/accounting/privacy_loss.h"
#include "defences/accounting/renyi.h"

namespace undertext {
namespace {

double renyi(double sigma, double q, std::int64_t steps, double delta) {
  const NoisySteps part{sigma, q, steps};
  return renyi_epsilon({&part, 1}, delta);
}

double prv(double sigma, double q, std::int64_t steps, double delta) {
  const NoisySteps part{sigma, q, steps};
  return privacy_loss_epsilon({&part, 1}, delta);
}

// What other accountants print for the same training.
TEST(Accountant, AgreesWithOthersOnRenyi) {
  EXPECT_NEAR(renyi(1.5, .04, 2250, 1e-5), 7.32911117143, 1e-10);
  EXPECT_NEAR(renyi(1.3, 150. / 60000, 15 * 400, 1e-5), .72422340261, 1e-10);
  EXPECT_NEAR(renyi(1, 100. / 100000, 30 * 1000, 1e-7), 1.41549884954, 1e-10);
}

TEST(Accountant, AgreesWithOthersOnPrivacyLoss) {
  const struct {
    NoisySteps part;
    double told;
  } cases[] = {{{.8, .001, 100}, .2704033641},
               {{1.5, .05, 1000}, 6.2099692466},
               {{2, .2, 100}, 5.6720556088},
               {{3, .001, 50000}, .3096941612}};
  for (const auto& [part, told] : cases) {
    EXPECT_NEAR(privacy_loss_epsilon({&part, 1}, 1e-6, kOpacusAllowance), told, 5e-5);
    EXPECT_NEAR(privacy_loss_epsilon({&part, 1}, 1e-6), told - .01, 3e-4);  // and not above without it
  }
}

TEST(Accountant, FindsTheNoiseForAPromise) {
  EXPECT_NEAR(noise_for(8, .04, 2250, 1e-5, Accountant::renyi), 1.416, 5e-4);
  const double sigma = noise_for(2, .01, 500, 1e-6);
  EXPECT_LE(prv(sigma, .01, 500, 1e-6), 2);
  EXPECT_GT(prv(sigma * .999, .01, 500, 1e-6), 2);
  EXPECT_THROW(noise_for(0, .01, 500, 1e-6), UserError);
}

// Without sampling the loss is Gaussian, whose curve is known in closed form.
TEST(Accountant, MeetsTheClosedFormWithoutSampling) {
  for (const double sigma : {.5, 1., 4., 20.})
    for (const std::int64_t steps : {1, 7, 100}) {
      const NoisySteps part{sigma, 1, steps};
      const double exact = gaussian_epsilon(gaussian_mu({&part, 1}), 1e-5);
      EXPECT_NEAR(prv(sigma, 1, steps, 1e-5), exact, 1e-4 * std::max(1., exact)) << sigma << " " << steps;
      EXPECT_GE(prv(sigma, 1, steps, 1e-5), exact);
      EXPECT_GE(renyi(sigma, 1, steps, 1e-5), exact);
    }
}

// delta of one Gaussian step by hand: Phi(1/2) - Phi(-1/2) at epsilon 0 and mu 1.
TEST(Accountant, KnowsTheGaussianCurve) {
  EXPECT_NEAR(gaussian_delta(1, 0), 0.3829249225, 1e-9);
  EXPECT_NEAR(gaussian_delta(1, gaussian_epsilon(1, 1e-3)), 1e-3, 1e-12);
  EXPECT_EQ(gaussian_epsilon(0.01, 0.5), 0);
}

// A numerical bound may not lie above Renyi's, and a smaller delta costs more.
TEST(Accountant, PrivacyLossIsTighterThanRenyi) {
  double before = 0;
  for (const double delta : {1e-3, 1e-5, 1e-7, 1e-9}) {
    const double tight = prv(1.2, .02, 800, delta);
    EXPECT_LE(tight, renyi(1.2, .02, 800, delta));
    EXPECT_GT(tight, before);
    before = tight;
  }
}

TEST(Accountant, ComposesUnequalParts) {
  const Composition halves = {{1.5, .05, 400}, {1.5, .05, 600}};
  EXPECT_NEAR(privacy_loss_epsilon(halves, 1e-6), prv(1.5, .05, 1000, 1e-6), 1e-6);
  EXPECT_NEAR(renyi_epsilon(halves, 1e-6), renyi(1.5, .05, 1000, 1e-6), 1e-12);
  const Composition mixed = {{1.5, .05, 1000}, {3, 1, 2}};
  EXPECT_GT(privacy_loss_epsilon(mixed, 1e-6), prv(1.5, .05, 1000, 1e-6));
  EXPECT_LT(privacy_loss_epsilon(mixed, 1e-6), renyi_epsilon(mixed, 1e-6));
}

TEST(Accountant, FallsWithNoiseAndGrowsWithSteps) {
  for (const auto epsilon : {renyi, prv}) {
    double last = std::numeric_limits<double>::infinity();
    for (const double sigma : {0.4, 0.7, 1.5, 6.0}) {
      const double now = epsilon(sigma, .01, 1000, 1e-5);
      EXPECT_LT(now, last) << sigma;
      EXPECT_LT(now, epsilon(sigma, .01, 2000, 1e-5)) << sigma;
      last = now;
    }
  }
}

// Orders between whole ones lie between them: the divergence rises with the order.
TEST(Renyi, RisesWithTheOrder) {
  for (const double q : {.001, .04, .5, .9}) {
    double before = 0;
    for (const double order : renyi_orders()) {
      const double now = renyi_of_step(1.3, q, order);
      EXPECT_GE(now, before * (1 - 1e-9)) << q << " at " << order;
      before = now;
    }
  }
}

// A leaf of a tree over 8 leaves lies on a way of 4 nodes, over 9 leaves of 4, over 16 of 5.
TEST(Renyi, CountsTheNodesOfATree) {
  EXPECT_DOUBLE_EQ(renyi_of_tree(2, 1, 1, 3), 1 * 3 / 8.);
  EXPECT_DOUBLE_EQ(renyi_of_tree(2, 8, 1, 3), 4 * 3 / 8.);
  EXPECT_DOUBLE_EQ(renyi_of_tree(2, 9, 1, 3), 4 * 3 / 8.);
  EXPECT_DOUBLE_EQ(renyi_of_tree(2, 16, 2, 3), 2 * 5 * 3 / 8.);
}

TEST(Accountant, NothingIsFreeAndNothingCostsNothing) {
  EXPECT_TRUE(std::isinf(renyi(0, .1, 1, 1e-5)));
  EXPECT_TRUE(std::isinf(prv(0, .1, 1, 1e-5)));
  EXPECT_EQ(prv(1, .1, 0, 1e-5), 0);
  EXPECT_THROW(prv(1, 0, 1, 1e-5), UserError);
  EXPECT_THROW(prv(1, .1, 1, 0), UserError);
  EXPECT_THROW(prv(-1, .1, 1, 1e-5), UserError);
  EXPECT_THROW(accountant_named("moments"), UserError);
}

TEST(Accountant, StatesWhatIsClaimed) {
  const Composition steps = {{1.5, .05, 1000}};
  const std::string text = statement_of({6.21, 1e-6, "user"}, steps);
  for (const char* part : {"6.21", "1e-06", "one user", "adding or removing", "Poisson", "PRV"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  PrivacyClaim trees{2.5, 1e-6, "user"};
  trees.trees = NoisyTrees{4, 16, 3};
  const std::string other = statement_of(trees, {});
  for (const char* part : {"2.5", "3 trees of 16 leaves", "none is assumed", "nothing in place of one user"})
    EXPECT_NE(other.find(part), std::string::npos) << part;
  EXPECT_EQ(other.find("Poisson"), std::string::npos);
  EXPECT_NE(statement_of({INFINITY, 1e-6}, steps).find("infinite"), std::string::npos);
}

// So little noise promises next to nothing: never that nothing is told.
TEST(Accountant, GivesNoPromiseForNextToNoNoise) {
  double last = 0;
  for (const double sigma : {0.1, 0.05, 0.02, 0.01, 0.001, 0.0001}) {
    const NoisySteps step{sigma, 1, 1};
    const double epsilon = epsilon_of({&step, 1}, 1e-5, Accountant::prv);
    EXPECT_GT(epsilon, last) << sigma;
    EXPECT_GT(epsilon, 1 / (2 * sigma * sigma)) << "the loss's mean: " << sigma;
    last = epsilon;
  }
}

}  // namespace
}  // namespace undertext
