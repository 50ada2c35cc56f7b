#include "metrics/film_scores.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "metrics/entity_scores.h"
#include "metrics/roc.h"
#include "metrics/sentence_matching.h"

namespace undertext {
namespace {

constexpr double kNear = 0.25;  // section 6.2: strong leakage
constexpr double kRight = 0.9;  // ROUGE-L from which on a recovered sentence is no invention

struct Text {
  Sentence ids;
  std::string text;
  std::vector<std::string> words, entities;
};

Sentence without_marks(const Sentence& sentence, const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  Sentence kept;
  for (const Token token : sentence)
    if (token != special.start && token != special.end && token != special.padding) kept.push_back(token);
  return kept;
}

std::vector<Text> texts_of(std::span<const Sentence> sentences, const Tokenizer& tokenizer,
                           const EntityFinder& finder) {
  std::vector<Text> texts;
  for (const Sentence& sentence : sentences) {
    Text text;
    text.ids = without_marks(sentence, tokenizer);
    text.text = tokenizer.decode(text.ids);
    text.words = rouge_words(text.text);
    text.entities = entities_of(finder, text.text);
    texts.push_back(std::move(text));
  }
  return texts;
}

RecoveredSentenceScores scores_of(const Text& recovered, std::span<const Text> truth) {
  RecoveredSentenceScores scores;
  double nerr = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    const double l = rouge_l(truth[t].words, recovered.words);
    if (l > scores.rouge_l || scores.nearest < 0) scores.nearest = static_cast<std::int64_t>(t);
    scores.rouge_l = std::max(scores.rouge_l, l);
    scores.rouge_1 = std::max(scores.rouge_1, rouge_n(truth[t].words, recovered.words, 1));
    scores.rouge_2 = std::max(scores.rouge_2, rouge_n(truth[t].words, recovered.words, 2));
    nerr = std::max(nerr, entity_f1(truth[t].entities, recovered.entities).value_or(0));
    scores.exact = scores.exact || truth[t].ids == recovered.ids;
  }
  if (scores.nearest >= 0 && !truth[static_cast<std::size_t>(scores.nearest)].entities.empty())
    scores.nerr = nerr;
  return scores;
}

void raise(RecoveredSentenceScores& best, const RecoveredSentenceScores& other) {
  if (other.rouge_l > best.rouge_l || best.nearest < 0) best.nearest = other.nearest;
  best.rouge_1 = std::max(best.rouge_1, other.rouge_1);
  best.rouge_2 = std::max(best.rouge_2, other.rouge_2);
  best.rouge_l = std::max(best.rouge_l, other.rouge_l);
  best.nerr = std::max(best.nerr, other.nerr);  // nothing is less than any number
  best.exact = best.exact || other.exact;
}

template <typename Part>
auto parts(std::span<const Text> texts, Part part) {
  std::vector<std::remove_cvref_t<decltype(part(texts.front()))>> all;
  for (const Text& text : texts) all.push_back(part(text));
  return all;
}

std::vector<std::string> all_entities(std::span<const Text> texts) {
  std::vector<std::string> all;
  for (const Text& text : texts) all.insert(all.end(), text.entities.begin(), text.entities.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double near_share(std::span<const Text> of, std::span<const Text> others) {
  if (of.empty()) return 0;
  const auto near = std::ranges::count_if(of, [&](const Text& text) {
    return std::ranges::any_of(others,
                               [&](const Text& other) { return rouge_l(text.words, other.words) > kNear; });
  });
  return static_cast<double>(near) / static_cast<double>(of.size());
}

void add(nlohmann::json& json, const std::string& prefix, const RecoveredSentenceScores& scores) {
  json[prefix + "rouge_1"] = scores.rouge_1;
  json[prefix + "rouge_2"] = scores.rouge_2;
  json[prefix + "rouge_l"] = scores.rouge_l;
  if (scores.nerr) json[prefix + "nerr"] = *scores.nerr;
  json[prefix + "exact"] = scores.exact ? 1 : 0;
}

}  // namespace

FilmScores film_scores(std::span<const Sentence> truth, std::span<const Sentence> recovered,
                       const Tokenizer& tokenizer, const FilmScoring& scoring) {
  UNDERTEXT_CHECK(scoring.confidence.empty() || scoring.confidence.size() == recovered.size());
  FilmScores scores;
  scores.truth = std::ssize(truth);
  scores.recovered = std::ssize(recovered);
  const std::vector<Text> of_truth = texts_of(truth, tokenizer, scoring.entities),
                          of_recovered = texts_of(recovered, tokenizer, scoring.entities);
  std::vector<JudgedRecovery> judged;
  for (std::size_t r = 0; r < of_recovered.size(); ++r) {
    scores.sentences.push_back(scores_of(of_recovered[r], of_truth));
    raise(scores.best, scores.sentences.back());
    if (!scoring.confidence.empty())
      judged.push_back({scoring.confidence[r], scores.sentences.back().rouge_l > kRight});
  }
  scores.auc = area_under_curve(judged);
  scores.recall_25 = near_share(of_truth, of_recovered);
  scores.precision_25 = near_share(of_recovered, of_truth);
  scores.entity_recall = entity_recall(all_entities(of_truth), all_entities(of_recovered));
  if (scores.entity_recall) scores.best.nerr = scores.best.nerr.value_or(0);
  scores.first = scores.sentences.empty() ? scores.best : scores.sentences.front();
  const auto text = [](const Text& t) { return t.text; };
  const auto ids = [](const Text& t) { return t.ids; };
  if (!truth.empty() && !recovered.empty()) {
    const std::vector<std::string> true_texts = parts(of_truth, text), found = parts(of_recovered, text);
    scores.matched = score_rouge(true_texts, found);
    scores.matched_stemmed = score_rouge(true_texts, found, Stemming::porter);
    scores.exact = static_cast<double>(count_exact(parts(of_truth, ids), parts(of_recovered, ids))) /
                   static_cast<double>(truth.size());
  }
  if (scoring.bag) {
    const Sentence given(scoring.bag->begin(), scoring.bag->end());
    scores.bag = score_words(parts(of_truth, ids), std::vector<Sentence>{without_marks(given, tokenizer)});
  }
  return scores;
}

void to_json(nlohmann::json& json, const FilmScores& scores) {
  json = scores.matched;
  json["rouge_1_stemmed"] = scores.matched_stemmed.rouge_1;
  json["rouge_2_stemmed"] = scores.matched_stemmed.rouge_2;
  json["rouge_l_stemmed"] = scores.matched_stemmed.rouge_l;
  json["exact"] = scores.exact;
  add(json, "first_", scores.first);
  add(json, "best_", scores.best);
  json["recall_25"] = scores.recall_25;
  json["precision_25"] = scores.precision_25;
  json["recovered"] = scores.recovered;
  json["truth"] = scores.truth;
  if (scores.entity_recall) json["entity_recall"] = *scores.entity_recall;
  if (scores.auc) json["auc"] = *scores.auc;
  if (!scores.bag) return;
  json["bag_precision"] = scores.bag->precision;
  json["bag_recall"] = scores.bag->recall;
  json["bag_f1"] = scores.bag->f1;
}

}  // namespace undertext
