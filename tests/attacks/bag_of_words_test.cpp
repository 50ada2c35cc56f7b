#include "attacks/bag_of_words.h"

#include <gtest/gtest.h>

#include <map>

#include "attacks/bag_by_counts.h"
#include "defences/pruning.h"
#include "federated/local_training.h"
#include "metrics/word_scores.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

TransformerConfig config_of(TransformerKind kind) {
  return small_config(
      kind, {.vocabulary = 3000, .width = 128, .heads = 4, .inner = 256, .positions = 40, .deviation = 0.02});
}

// Words by their frequency, as texts have them: word k about as often as 1 / k.
std::vector<Sentence> zipf_texts(std::int64_t texts, std::int64_t length, std::uint64_t seed) {
  Random random(Seed(seed).derive("zipf"));
  std::vector<Sentence> result(static_cast<std::size_t>(texts));
  for (Sentence& text : result)
    for (std::int64_t i = 0; i < length; ++i)
      text.push_back(static_cast<Token>(std::pow(2999.0, random.uniform())));
  return result;
}

Observation observed(const std::shared_ptr<Transformer>& model, const std::vector<Sentence>& texts,
                     Reduction reduction = Reduction::mean) {
  const LocalTraining training{
      .learning_rate = 0.01, .reduction = reduction, .train_embedding = true, .kind = UpdateKind::gradient};
  return observe(model, "", train_locally(*model, texts, training, ""));
}

double counted(const WordRecovery& found, const std::vector<Sentence>& texts) {
  std::vector<double> counts;
  for (const RecoveredWord& word : found.words) counts.push_back(word.count);
  return score_counts(texts, ids_of(found), counts);
}

double unique(const WordRecovery& found, const std::vector<Sentence>& texts) {
  return score_words(texts, std::vector<Sentence>{ids_of(found)}).f1;
}

TEST(BagOfWords, ByBiasOfTheSmallEncoder) {
  const std::shared_ptr<Transformer> model = Transformer::random(config_of(TransformerKind::plain), Seed(1));
  const std::vector<Sentence> texts = zipf_texts(32, 32, 1);
  const Observation seen = observed(model, texts);
  EXPECT_EQ(longest_text(seen), 32);
  EXPECT_EQ(tokens_of(seen, {}), 1024);
  const WordRecovery paper = recover_bag(seen, {});
  EXPECT_GE(unique(paper, texts), 0.99);
  EXPECT_GE(counted(paper, texts), 0.93);
  double total = 0;
  for (const RecoveredWord& word : paper.words) total += word.count;
  EXPECT_EQ(total, 1024);
  // Ours, told nothing: only the first word of each text predicts nothing, and is not counted there.
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const WordRecovery ours = recover_bag_by_counts(observed(model, texts, reduction));
    EXPECT_GE(unique(ours, texts), 0.99);
    EXPECT_GE(counted(ours, texts), 0.95);
  }
}

TEST(BagOfWords, ByRowsOfATiedGpt2) {
  const std::shared_ptr<Transformer> model = Transformer::random(config_of(TransformerKind::gpt2), Seed(1));
  const std::vector<Sentence> texts = zipf_texts(8, 32, 2);
  const Observation seen = observed(model, texts);
  EXPECT_EQ(longest_text(seen), 32) << "the last place does not move, and is counted all the same";
  const WordRecovery found = recover_bag(seen, {});
  EXPECT_GE(unique(found, texts), 0.9);
  EXPECT_GE(counted(found, texts), 0.75);
  const WordRecovery ours = recover_bag_by_counts(seen);
  EXPECT_GE(unique(ours, texts), 0.95);
  EXPECT_GE(counted(ours, texts), 0.75) << "the mean of so few contexts is rough";
}

TEST(BagOfWords, ByRowsOfAnUntiedGpt2) {
  TransformerConfig config = config_of(TransformerKind::gpt2);
  config.tied = false;
  const std::shared_ptr<Transformer> model = Transformer::random(config, Seed(1));
  // Every last token is read too, but nothing follows it: it has no gradient and does not show.
  const std::vector<Sentence> texts = {{5, 6, 7, 5}, {8, 9, 5, 6}};
  const WordRecovery found = recover_bag(observed(model, texts), {});
  EXPECT_EQ(unique(found, texts), 1);
}

TEST(BagOfWords, OfBertsHiddenWordsAndTheOthers) {
  const std::shared_ptr<Transformer> model = Transformer::random(config_of(TransformerKind::bert), Seed(1));
  model->set_mask(2999);
  const std::vector<Sentence> texts = zipf_texts(8, 32, 3);
  const Observation seen = observed(model, texts);
  // One token in seven is hidden and predicted; the printed cutoff finds little more than these.
  EXPECT_GE(score_words(texts, std::vector<Sentence>{ids_of(recover_bag(seen, {}))}).recall, 0.15);
  EXPECT_GE(unique(recover_bag_by_counts(seen), texts), 0.9);
}

TEST(BagOfWords, OfModelsThatReadLittleOrHaveNoMask) {
  const auto bert =
      std::shared_ptr<Transformer>(Transformer::random(config_of(TransformerKind::bert), Seed(1)));
  bert->set_mask(2999);
  Observation seen = observed(bert, zipf_texts(2, 8, 1));
  bert->set_mask(std::nullopt);  // a folder without a tokenizer
  EXPECT_FALSE(recover_bag_by_counts(seen).words.empty());
  TransformerConfig config = config_of(TransformerKind::plain);
  config.positions = 3;
  const std::shared_ptr<Transformer> brief = Transformer::random(config, Seed(1));
  EXPECT_FALSE(recover_bag_by_counts(observed(brief, {{5, 6, 7}})).words.empty());
}

TEST(BagOfWords, IsEmptyWithoutTheEmbeddingAndTheBias) {
  const std::shared_ptr<Transformer> model = Transformer::random(config_of(TransformerKind::gpt2), Seed(1));
  const LocalTraining frozen{.reduction = Reduction::mean, .kind = UpdateKind::gradient};
  const Observation seen = observe(model, "", train_locally(*model, zipf_texts(2, 8, 1), frozen, ""));
  for (const WordRecovery& found : {recover_bag(seen, {}), recover_bag_by_counts(seen)}) {
    EXPECT_TRUE(found.words.empty());
    EXPECT_EQ(found.rule, "none: the update does not hold the token embedding");
  }
}

TEST(BagOfWords, OfWhatPruningLeaves) {
  const std::shared_ptr<Transformer> model = Transformer::random(config_of(TransformerKind::gpt2), Seed(1));
  const std::vector<Sentence> texts = zipf_texts(8, 32, 2);
  Observation seen = observed(model, texts);
  for (auto& [name, tensor] : seen.update.tensors) tensor = tensor.clone();
  Pruning(0.99).on_gradient(seen.update.tensors, 0);
  const WordScores few = score_words(texts, std::vector<Sentence>{ids_of(recover_bag_by_counts(seen))});
  EXPECT_EQ(few.precision, 1);
  EXPECT_GE(few.recall, 0.9);
  for (auto& [name, tensor] : seen.update.tensors) tensor.zero_();
  EXPECT_TRUE(recover_bag_by_counts(seen).words.empty());
  EXPECT_TRUE(recover_bag(seen, {}).words.empty());
}

}  // namespace
}  // namespace undertext
