#include "audit/message_pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace undertext {

std::vector<std::string> texts_of(std::span<const Sentence> sentences, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(tokenizer.decode(sentence));
  return texts;
}

namespace {

// partner: of each true message, -1 for none; ratio: how much of it the partner has.
nlohmann::json paired(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                      const std::vector<std::int64_t>& partner, const std::vector<double>& ratio,
                      const Tokenizer& tokenizer) {
  std::vector<bool> used(recovered.size(), false);
  nlohmann::json pairs = nlohmann::json::array();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    nlohmann::json pair = {
        {"truth", tokenizer.decode(truth[i])}, {"recovered", nullptr}, {"exact", false}, {"ratio", 0}};
    if (partner[i] >= 0) {
      used[static_cast<std::size_t>(partner[i])] = true;
      const Sentence& found = recovered[static_cast<std::size_t>(partner[i])];
      pair["recovered"] = tokenizer.decode(found);
      pair["exact"] = found == truth[i];
      pair["ratio"] = ratio[i];
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

}  // namespace

nlohmann::json pairs_of(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                        const SentenceScores& scores, const Tokenizer& tokenizer) {
  std::vector<std::int64_t> partner(truth.size(), -1);
  std::vector<double> ratio(truth.size(), 0);
  for (const SentencePair& pair : scores.pairs) {
    partner[static_cast<std::size_t>(pair.truth)] = pair.recovered;
    ratio[static_cast<std::size_t>(pair.truth)] = pair.ratio;
  }
  return paired(truth, recovered, partner, ratio, tokenizer);
}

nlohmann::json pairs_of(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                        const SequenceScores& scores, const Tokenizer& tokenizer) {
  std::vector<double> ratio(truth.size(), 0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (scores.partner[i] < 0) continue;
    const Sentence& found = recovered[static_cast<std::size_t>(scores.partner[i])];
    std::size_t right = 0;
    for (std::size_t t = 0; t < std::min(truth[i].size(), found.size()); ++t)
      right += truth[i][t] == found[t] ? 1 : 0;
    ratio[i] = 100.0 * static_cast<double>(right) / static_cast<double>(truth[i].size());
  }
  return paired(truth, recovered, scores.partner, ratio, tokenizer);
}

}  // namespace undertext
