#include "audit/message_pairs.h"

#include <nlohmann/json.hpp>

namespace undertext {

std::vector<std::string> texts_of(std::span<const Sentence> sentences, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(tokenizer.decode(sentence));
  return texts;
}

nlohmann::json pairs_of(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                        const SentenceScores& scores, const Tokenizer& tokenizer) {
  std::vector<const SentencePair*> partner(truth.size(), nullptr);
  std::vector<bool> used(recovered.size(), false);
  for (const SentencePair& pair : scores.pairs) {
    partner[static_cast<std::size_t>(pair.truth)] = &pair;
    used[static_cast<std::size_t>(pair.recovered)] = true;
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    nlohmann::json pair = {
        {"truth", tokenizer.decode(truth[i])}, {"recovered", nullptr}, {"exact", false}, {"ratio", 0}};
    if (partner[i] != nullptr) {
      const Sentence& found = recovered[static_cast<std::size_t>(partner[i]->recovered)];
      pair["recovered"] = tokenizer.decode(found);
      pair["exact"] = found == truth[i];
      pair["ratio"] = partner[i]->ratio;
    }
    pairs.push_back(std::move(pair));
  }
  for (std::size_t i = 0; i < recovered.size(); ++i) {
    if (!used[i])
      pairs.push_back({{"truth", nullptr},
                       {"recovered", tokenizer.decode(recovered[i])},
                       {"exact", false},
                       {"ratio", 0}});
  }
  return pairs;
}

}  // namespace undertext
