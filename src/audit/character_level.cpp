#include "audit/character_level.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "audit/chosen_attack.h"
#include "audit/message_pairs.h"
#include "audit/told_defence.h"
#include "metrics/sentence_scores.h"
#include "metrics/word_scores.h"
#include "text/spelling.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

using nlohmann::json;

PublicModelRecipe of_letters(PublicModelRecipe recipe) {
  recipe.letters = true;
  return recipe;
}

// Both in a vocabulary of just their words, none of which is unknown.
struct InWords {
  Vocabulary vocabulary;
  std::vector<Sentence> truth, recovered;
};

InWords in_words(const std::vector<std::string>& truth, const std::vector<std::string>& recovered) {
  std::set<std::string> all;
  for (const auto* texts : {&truth, &recovered})
    for (const std::string& text : *texts)
      for (std::string& word : keyboard_words(text)) all.insert(std::move(word));
  std::vector<std::string> words = {"</S>", "<S>", "<UNK>"};
  words.insert(words.end(), all.begin(), all.end());
  InWords both{Vocabulary(std::move(words)), {}, {}};
  for (const std::string& text : truth) both.truth.push_back(both.vocabulary.encode(text));
  for (const std::string& text : recovered) both.recovered.push_back(both.vocabulary.encode(text));
  return both;
}

}  // namespace

CharacterLevel::CharacterLevel(const PublicModelRecipe& recipe,
                               const std::optional<std::filesystem::path>& cache, const Note& note,
                               const Tokenizer& words)
    : words_(words), folder_(public_model(of_letters(recipe), cache, note)) {}

std::vector<Sentence> CharacterLevel::letters_of(std::span<const Sentence> messages) const {
  std::vector<Sentence> letters;
  for (const std::string& text : texts_of(messages, words_))
    letters.push_back(folder_.tokenizer->encode(spelled(text)));
  return letters;
}

double CharacterLevel::per_word(double perplexity_of_letters, std::span<const Sentence> messages) const {
  const std::vector<Sentence> letters = letters_of(messages);
  double words = 0;
  for (const Sentence& message : messages) words += static_cast<double>(message.size());
  return std::pow(perplexity_of_letters, static_cast<double>(folder_.model->predicted(letters)) / words);
}

void CharacterLevel::add_rows(const Observation& observation, std::span<const Sentence> messages,
                              const RowFacts& facts, TrialRows& results) const {
  SentenceRecovery recovery;
  const double seconds = seconds_of([&] { recovery = recover(SentenceAttack{}, observation, {}); });
  std::vector<std::string> read;
  for (const std::string& letters : texts_of(sentences_of(recovery), *folder_.tokenizer))
    read.push_back(unspelled(letters));
  const InWords both = in_words(texts_of(messages, words_), read);
  for (const char* attack : {"words", "sentences"}) {
    RowFacts own = facts;
    own.attack = attack;
    own.method = "best";
    own.id = fmt::format("n{}-{}-e{}-{}-{}-best", facts.messages, facts.protocol, facts.training.epochs,
                         facts.plan.text(), attack);
    own.told = told_of(own.attack, own.method, own.plan, observation.update.protocol);
    const bool sentences = own.attack == "sentences";
    if (sentences) own.chance = std::nullopt;
    json row = row_json(own);
    row["seconds"] = seconds;
    const auto score = [&](const auto& scores) {
      row["recovered"] = scores.recovered;
      row["truth"] = scores.truth;
      row["scores"] = scores;
    };
    if (sentences) {
      const SentenceScores scores = score_sentences(both.truth, both.recovered);
      score(scores);
      row["certified"] = recovery.certified;
      results.samples.push_back(
          {{"row", own.id}, {"pairs", pairs_of(both.truth, both.recovered, scores, both.vocabulary)}});
    } else {
      score(score_words(both.truth, both.recovered));
    }
    results.rows.push_back(std::move(row));
  }
}

}  // namespace undertext
