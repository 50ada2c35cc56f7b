#include "audit/attacked_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "attacks/words.h"
#include "audit/chosen_attack.h"
#include "audit/message_pairs.h"
#include "audit/result_row.h"
#include "metrics/sentence_scores.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

using nlohmann::json;

struct Attack {
  const char* attack;
  const char* method;
  bool oracle = false;
};

// "n64-fedavg-e10-b32-noise0.1-words-paper-oracle".
std::string id_of(const AttackedUpdate& update, const Attack& attack) {
  std::string id =
      fmt::format("n{}-{}", update.truth.size(), update.protocol == "FedSGD" ? "fedsgd" : "fedavg");
  if (update.protocol != "FedSGD")
    id += fmt::format("-e{}-b{}", update.training.epochs, update.training.batch);
  if (update.sigma > 0) id += fmt::format("-noise{}", update.sigma);
  return id + fmt::format("-{}-{}{}", attack.attack, attack.method, attack.oracle ? "-oracle" : "");
}

json row_of(const AttackedUpdate& update, const Attack& attack) {
  return row_json({.id = id_of(update, attack),
                   .attack = attack.attack,
                   .method = attack.method,
                   .oracle = attack.oracle,
                   .messages = update.truth.size(),
                   .protocol = update.protocol,
                   .training = update.training,
                   .defence = update.sigma > 0 ? "noise per step" : "none",
                   .sigma = update.sigma,
                   .perplexity_before = update.perplexity_before,
                   .perplexity_after = update.perplexity_after});
}

template <typename Recover>
auto timed(json& row, const Recover& run) {
  const auto start = std::chrono::steady_clock::now();
  auto recovery = run();
  row["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return recovery;
}

template <typename Recover>
json word_row(const AttackedUpdate& update, const Attack& attack, const Recover& run) {
  json row = row_of(update, attack);
  const WordRecovery recovery = timed(row, run);
  const WordScores scores = score_words(update.truth, std::vector<Sentence>{ids_of(recovery)});
  row["recovered"] = scores.recovered;
  row["truth"] = scores.truth;
  row["scores"] = scores;
  return row;
}

template <typename Recover>
json sentence_row(const AttackedUpdate& update, const Attack& attack, json& samples, const Recover& run) {
  json row = row_of(update, attack);
  const SentenceRecovery recovery = timed(row, run);
  const std::vector<Sentence> recovered = sentences_of(recovery);
  const SentenceScores scores = score_sentences(update.truth, recovered);
  row["recovered"] = scores.recovered;
  row["truth"] = scores.truth;
  row["scores"] = scores;
  if (std::string_view(attack.method) == "best") row["certified"] = recovery.certified;
  samples.push_back(
      {{"row", row.at("id")}, {"pairs", pairs_of(update.truth, recovered, scores, update.tokenizer)}});
  return row;
}

// The exact search takes seconds for a few messages and minutes for hundreds that the model knows well: the
// audit tries it on clients of up to this many messages, one epoch without noise, and of fewer otherwise.
constexpr std::int64_t kSomeMessages = 64, kFewMessages = 16;

bool reads_sentences_best(std::int64_t messages, double sigma, std::int64_t epochs) {
  return messages <= (sigma > 0 || epochs > 1 ? kFewMessages : kSomeMessages);
}

}  // namespace

int rows_of(std::int64_t messages, double sigma, std::int64_t epochs) {
  return (sigma > 0 ? 4 : 3) + (reads_sentences_best(messages, sigma, epochs) ? 1 : 0);
}

void add_rows(const AttackedUpdate& update, json& rows, json& samples, const std::function<void()>& done) {
  const Observation& observation = update.observation;
  const auto add = [&](json row) {
    rows.push_back(std::move(row));
    done();
  };
  // Without noise the paper's rule is the sign alone. Under noise it needs a cutoff: ours, which needs no
  // truth, and the paper's own, which does.
  const std::string cutoff = update.sigma > 0 ? "auto" : "none";
  add(word_row(update, {"words", "paper"}, [&] {
    return recover(WordAttack{"paper", cutoff}, observation, update.truth);
  }));
  if (update.sigma > 0)
    add(word_row(update, {"words", "paper", true}, [&] {
      return recover(WordAttack{"paper", "oracle"}, observation, update.truth);
    }));
  // What the search for sentences certifies holds the words too.
  const auto messages = static_cast<std::int64_t>(update.truth.size());
  std::optional<SentenceRecovery> best;
  double seconds = 0;
  if (reads_sentences_best(messages, update.sigma, update.training.epochs)) {
    json clock;
    best = timed(clock, [&] { return recover(SentenceAttack{}, observation, update.truth); });
    seconds = clock.at("seconds");
  }
  json found = word_row(update, {"words", "best"}, [&] {
    return best && best->certified ? words_of_sentences(observation, *best)
                                   : recover_words_by_rows(observation);
  });
  if (best && best->certified) found["seconds"] = seconds;
  add(std::move(found));
  add(sentence_row(update, {"sentences", "paper"}, samples, [&] {
    return recover(SentenceAttack{.method = "paper", .cutoff = cutoff}, observation, update.truth);
  }));
  if (best) {
    json row = sentence_row(update, {"sentences", "best"}, samples, [&] { return std::move(*best); });
    row["seconds"] = seconds;
    add(std::move(row));
  }
}

}  // namespace undertext
