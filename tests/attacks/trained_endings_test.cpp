#include "attacks/trained_endings.h"

#include <gtest/gtest.h>

#include "federated/observation.h"
#include "models/cifg_lstm.h"
#include "tensors/named_tensors.h"

namespace undertext {
namespace {

// A client whose training made `sure` certain to come next, wherever it stands.
Observation trained_to_say(const std::shared_ptr<LanguageModel>& model, Token sure, double bias) {
  const std::string hash = hash_of(model->parameters());
  Update update;
  update.protocol.base_hash = hash;
  update.tensors["decoder.bias"] = model->parameters().at("decoder.bias").clone();
  update.tensors["decoder.bias"][sure] += bias;
  return observe(model, hash, std::move(update));
}

TEST(TrainedEndings, NoSentenceStopsWhereTheNextWordIsKnownByHeart) {
  CifgConfig config;
  config.vocabulary = 200;
  config.embedding = 24;
  config.units = 48;
  const std::shared_ptr<LanguageModel> model = CifgLstm::random(config, Seed(4));
  for (const bool by_heart : {true, false}) {
    const Observation observation = trained_to_say(model, 17, by_heart ? 20 : 0);
    SearchTree tree(
        std::make_unique<CifgReader>(std::dynamic_pointer_cast<const CifgLstm>(observation.before)),
        model->start_token());
    const std::vector<NodeId> nodes = {tree.child(0, 10), tree.child(tree.child(0, 10), 11)};
    TrainedEndings endings(observation);
    const std::vector<char> expected(2, by_heart ? 0 : 1);
    EXPECT_EQ(endings.may_end(tree, nodes), expected);
    EXPECT_EQ(endings.may_end(tree, nodes), expected);  // from memory
  }
}

}  // namespace
}  // namespace undertext
