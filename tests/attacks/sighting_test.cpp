#include "attacks/sighting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attacks/evidence_search.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

TEST(Sighting, FindsTheContextsOfWordsTypedOnceAndNoOthers) {
  CifgConfig config;
  config.vocabulary = 300;
  config.embedding = 48;
  config.units = 96;
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(config, Seed(5));
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  // Words 3 .. 42 in ten sentences of four, each typed once; 43 and 44 follow contexts that nobody typed.
  std::vector<NodeId> edges, contexts;
  std::vector<Token> bag;
  for (Token first = 3; first < 43; first += 4) {
    NodeId node = 0;
    for (Token word = first; word < first + 4; ++word) {
      contexts.push_back(node);
      edges.push_back(node = tree.child(node, word));
      bag.push_back(word);
    }
  }
  bag.push_back(43);
  bag.push_back(44);
  ContextTable table(tree, layer, RowSketch(config.vocabulary, bag, 64, Seed(1)));
  Matrix<float> rows(table.sketch().rows(), config.embedding + 1);
  const Matrix<float> h = table.hidden(contexts);
  for (std::size_t i = 0; i < edges.size(); ++i)
    std::copy_n(h.row(static_cast<std::int64_t>(i)), h.cols,
                rows.row(table.sketch().row(tree.word(edges[i]))));
  for (std::int64_t j = 0; j < h.cols; ++j) {
    rows(table.sketch().row(43), j) = (h(1, j) + h(2, j)) / 2;
    rows(table.sketch().row(44), j) = j + 1 < h.cols ? -h(3, j) : 1;
  }
  const Matrix<float> filter = evidence_filter(h, std::vector<double>(edges.size(), 1.0), .005);

  std::vector<NodeId> proven = sight(table, {rows, bag, filter, {}, 10});
  std::sort(proven.begin(), proven.end());
  std::sort(edges.begin(), edges.end());
  EXPECT_EQ(proven, edges);
}

TEST(Sighting, NothingTypedOnceIsNothingFound) {
  CifgConfig config;
  config.vocabulary = 50;
  config.embedding = 8;
  config.units = 16;
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(config, Seed(5));
  const OutputLayer layer(*model);
  SearchTree tree(std::make_unique<CifgReader>(model), model->start_token());
  const std::vector<Token> bag = {3, 4};
  ContextTable table(tree, layer, RowSketch(config.vocabulary, bag, 8, Seed(1)));
  const Matrix<float> rows(table.sketch().rows(), config.embedding + 1, 3.0f), filter(9, 9);
  EXPECT_TRUE(sight(table, {rows, bag, filter, {}, 10}).empty());
  EXPECT_TRUE(sight(table, {rows, {}, filter, {}, 10}).empty());
}

}  // namespace
}  // namespace undertext
