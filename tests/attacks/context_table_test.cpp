#include "attacks/context_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attacks/background.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

CifgConfig small() {
  CifgConfig config;
  config.vocabulary = 60;
  config.embedding = 12;
  config.units = 24;
  return config;
}

TEST(ContextTable, BringsHiddenVectorsToTheUsualLengthAndTheGradientWithThem) {
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(small(), Seed(2));
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  const std::vector<Token> kept = {3, 4, 5};
  ContextTable table(tree, layer, RowSketch(60, kept, 8, Seed(1)));
  const NodeId root = 0;
  const Matrix<float> h = table.hidden({&root, 1}), plain = tree.hidden({&root, 1});
  double sum = 0;
  for (std::int64_t j = 0; j < 12; ++j) {
    sum += static_cast<double>(h(0, j)) * h(0, j);
    EXPECT_FLOAT_EQ(h(0, j), table.scale() * plain(0, j));
  }
  EXPECT_NEAR(std::sqrt(sum), 2.3, 1e-4);
  EXPECT_EQ(h(0, 12), 1);  // the bias column keeps its unit: counts

  Matrix<double> gradient(60, 13, 1.0);
  const Matrix<double> projected = table.project(gradient);
  EXPECT_NEAR(projected(table.sketch().row(4), 0), static_cast<double>(table.scale()), 1e-6);
  EXPECT_EQ(projected(table.sketch().row(4), 12), 1);
}

TEST(ContextTable, SketchesPredictionsLinearly) {
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(small(), Seed(2));
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  const std::vector<Token> kept = {3, 4, 5};
  ContextTable table(tree, layer, RowSketch(60, kept, 8, Seed(1)));
  const std::vector<NodeId> nodes = {0, tree.child(0, 7), tree.child(0, 9)};
  const std::vector<double> weights = {2, 1, .5};
  const Matrix<float> p = table.probabilities(nodes), h = table.hidden(nodes);
  const Matrix<float> expected = table.expected(nodes, weights);
  for (std::int64_t k = 0; k < expected.rows; ++k)
    for (std::int64_t j = 0; j < expected.cols; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < 3; ++i) sum += weights[i] * static_cast<double>(p(i, k) * h(i, j));
      EXPECT_NEAR(expected(k, j), sum, 1e-5);
    }
}

TEST(SearchTree, ReadsAnewWhatItForgot) {
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(small(), Seed(2));
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  const std::vector<NodeId> nodes = {tree.insert(Sentence{7, 8, 9}), tree.child(0, 7)};
  tree.open(nodes);
  const Matrix<float> before = tree.hidden(nodes);
  tree.forget();
  tree.open(nodes);
  EXPECT_EQ(tree.hidden(nodes).data, before.data);
}

// A word that the model all but knew leaves no trace of its own: it must be given a row before it can be
// found.
TEST(BackgroundEstimator, GivesWordsThatTheModelAllButKnewARow) {
  const auto random = CifgLstm::random(small(), Seed(2));
  NamedTensors parameters = random->parameters();
  parameters["decoder.bias"] = parameters.at("decoder.bias").clone();
  parameters["decoder.bias"][17] = 12.0;  // certain after anything
  const auto model = std::make_shared<CifgLstm>(small(), parameters);
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  Matrix<double> gradient(60, 13);
  gradient(20, 12) = -1;  // one word was typed, and it was not 17
  BackgroundEstimator background(tree, layer, gradient);
  const NodeId root = 0;
  const bool had = background.table().sketch().keeps(17);
  EXPECT_EQ(background.keep_likely({&root, 1}, .3f), !had);
  EXPECT_TRUE(background.table().sketch().keeps(17));
  EXPECT_FALSE(background.keep_likely({&root, 1}, .3f));  // nothing new: the rows stay where they are
}

}  // namespace
}  // namespace undertext
