#include "attacks/gradient_matching.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/threads.h"
#include "defences/clipping.h"
#include "defences/pruning.h"
#include "federated/local_training.h"
#include "models/cifg_lstm.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

std::shared_ptr<LanguageModel> encoder(TransformerKind kind = TransformerKind::plain) {
  TransformerConfig config = small_config(kind, {.vocabulary = 120,
                                                 .width = 32,
                                                 .layers = 1,
                                                 .heads = 4,
                                                 .inner = 64,
                                                 .positions = 16,
                                                 .deviation = 0.02});
  config.tied = false;
  return Transformer::random(config, Seed(1));
}

Observation observed(const std::shared_ptr<LanguageModel>& model, const std::vector<Sentence>& texts,
                     const std::vector<std::shared_ptr<const ClientDefence>>& defences = {}) {
  const LocalTraining training{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient};
  return observe(model, "", train_locally(*model, texts, training, "", defences));
}

const std::vector<Sentence> kText = {{17, 101, 5, 88, 42, 63}};

int right(const SentenceRecovery& found, const std::vector<Sentence>& texts) {
  int count = 0;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t t = 0; t < texts[i].size(); ++t) count += found.sentences[i].words[t] == texts[i][t];
  return count;
}

TEST(GradientMatching, TagReadsAShortText) {
  const SentenceRecovery found =
      recover_by_matching(observed(encoder(), kText), {.method = MatchingMethod::tag, .iterations = 250});
  ASSERT_EQ(found.sentences.size(), 1) << "as the protocol says";
  ASSERT_EQ(found.sentences[0].words.size(), 6) << "as the places show";
  EXPECT_GE(right(found, kText), 4);
  EXPECT_LT(found.residual, 0.05);
}

// What the protocol says of clipping and pruning is used: of a clipped gradient the direction counts, of a
// pruned one what is left.
TEST(GradientMatching, ReadsThroughClippingAndPruning) {
  const MatchingOptions options{.method = MatchingMethod::tag, .iterations = 250};
  Observation clipped = observed(encoder(), kText, {std::make_shared<Clipping>(0.01)}),
              pruned = observed(encoder(), kText, {std::make_shared<Pruning>(0.3)});
  EXPECT_GE(right(recover_by_matching(clipped, options), kText), 4);
  EXPECT_GE(right(recover_by_matching(pruned, options), kText), 4);
  clipped.update.protocol.defence = {};  // who is not told of it fits what no text gives
  EXPECT_LT(right(recover_by_matching(clipped, options), kText), 4);
}

TEST(GradientMatching, DlgReadsAShortTextWhoseLabelsAreKnown) {
  const SentenceRecovery found = recover_by_matching(
      observed(encoder(), kText),
      {.method = MatchingMethod::dlg, .labels = MatchingLabels::known, .known = kText, .iterations = 60});
  EXPECT_GE(right(found, kText), 4);
}

TEST(GradientMatching, ABagOfWordsIsAPrior) {
  const std::vector<Token> bag = {5, 17, 42, 63, 88, 101, 77};
  const SentenceRecovery found =
      recover_by_matching(observed(encoder(TransformerKind::gpt2), kText),
                          {.method = MatchingMethod::tag, .bag = bag, .iterations = 200});
  for (const Token word : found.sentences.at(0).words)
    EXPECT_NE(std::find(bag.begin(), bag.end(), word), bag.end()) << word;
  EXPECT_GE(right(found, kText), 4);
}

TEST(GradientMatching, LabelsMayComeFromTheBias) {
  const SentenceRecovery found = recover_by_matching(
      observed(encoder(), kText),
      {.method = MatchingMethod::tag, .labels = MatchingLabels::recovered, .iterations = 250});
  EXPECT_GE(right(found, kText), 4);
}

TEST(GradientMatching, ReadsTheKeyboardsWords) {
  const std::shared_ptr<LanguageModel> model =
      CifgLstm::random({.vocabulary = 80, .embedding = 16, .units = 24}, Seed(1));
  const std::vector<Sentence> text = {{40, 7, 21}};
  EXPECT_THROW(recover_by_matching(observed(model, text), {}), UserError) << "nothing shows the length";
  const SentenceRecovery found =
      recover_by_matching(observed(model, text), {.length = 3, .iterations = 400, .restarts = 2});
  EXPECT_GE(right(found, text), 2);
}

TEST(GradientMatching, IsTheSameForAnyNumberOfThreads) {
  const Observation seen = observed(encoder(), kText);
  std::vector<double> residuals;
  for (const int count : {1, 2}) {
    set_threads(count);
    residuals.push_back(recover_by_matching(seen, {.iterations = 5, .restarts = 3}).residual);
  }
  set_threads(0);
  EXPECT_EQ(residuals[0], residuals[1]);
}

TEST(GradientMatching, NeedsOneStep) {
  const std::shared_ptr<LanguageModel> model = encoder();
  const LocalTraining training{.epochs = 2, .reduction = Reduction::mean, .train_embedding = true};
  const Observation seen = observe(model, "", train_locally(*model, kText, training, ""));
  EXPECT_THROW(recover_by_matching(seen, {}), UserError);
}

}  // namespace
}  // namespace undertext
