#include "audit/attacked_update.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "attacks/words.h"
#include "audit/chosen_attack.h"
#include "audit/defended_update.h"
#include "audit/message_pairs.h"
#include "audit/result_row.h"
#include "audit/told_defence.h"
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

// "n64-fedavg-e10-b32-noise-per-step:sigma=0.1-words-paper-oracle".
std::string id_of(const RowFacts& facts, const Attack& attack) {
  std::string id = fmt::format("n{}-{}", facts.messages, facts.protocol == "FedSGD" ? "fedsgd" : "fedavg");
  if (facts.protocol != "FedSGD") id += fmt::format("-e{}-b{}", facts.training.epochs, facts.training.batch);
  if (!facts.plan.none()) id += "-" + facts.plan.text();
  return id + fmt::format("-{}-{}{}", attack.attack, attack.method, attack.oracle ? "-oracle" : "");
}

json row_of(const AttackedUpdate& update, const Attack& attack) {
  RowFacts facts = update.facts;
  facts.id = id_of(facts, attack);
  facts.attack = attack.attack;
  facts.method = attack.method;
  facts.oracle = attack.oracle;
  facts.told = told_of(facts.attack, facts.method, facts.plan, update.observation.update.protocol);
  if (facts.attack != "words") facts.chance = std::nullopt;
  return row_json(facts);
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
// audit tries it on so many messages of one step without noise, alone or summed, and on fewer otherwise.
constexpr std::int64_t kSomeMessages = 64, kSummedMessages = 128, kFewMessages = 16;

std::int64_t most_for_best(const AttackedUpdate& update, bool noisy) {
  if (noisy || update.facts.training.epochs > 1) return kFewMessages;
  return users_of(update.facts.plan) > 1 ? kSummedMessages : kSomeMessages;
}

}  // namespace

void add_rows(const AttackedUpdate& update, TrialRows& results) {
  const Observation& observation = update.observation;
  const bool noisy = known_noise(observation) > 0;
  // Without noise the paper's rule is the sign alone. Under noise it needs a cutoff: ours, which needs no
  // truth, and the paper's own, which does.
  const std::string cutoff = noisy ? "auto" : "none";
  results.rows.push_back(word_row(update, {"words", "paper"}, [&] {
    return recover(WordAttack{"paper", cutoff}, observation, update.truth);
  }));
  if (noisy)
    results.rows.push_back(word_row(update, {"words", "paper", true}, [&] {
      return recover(WordAttack{"paper", "oracle"}, observation, update.truth);
    }));
  // What the search for sentences certifies holds the words too.
  const std::int64_t messages = std::ssize(update.truth), most = most_for_best(update, noisy);
  std::optional<SentenceRecovery> best;
  double seconds = 0;
  if (messages <= most) {
    json clock;
    best = timed(clock, [&] { return recover(SentenceAttack{}, observation, update.truth); });
    seconds = clock.at("seconds");
  } else if (!update.facts.plan.none()) {
    results.add_impossible(
        "sentences best", update.facts.threat_model, update.facts.plan,
        fmt::format(
            "the search for {} messages {} takes longer than an audit has, expected {} at most: attack "
            "sentences does it in its own time",
            messages,
            noisy                              ? "under noise"
            : update.facts.training.epochs > 1 ? "after several epochs"
                                               : "in one sum",
            most));
  }
  json found = word_row(update, {"words", "best"}, [&] {
    return best && best->certified ? words_of_sentences(observation, *best)
                                   : recover_words_by_rows(observation);
  });
  if (best && best->certified) found["seconds"] = seconds;
  results.rows.push_back(std::move(found));
  results.rows.push_back(sentence_row(update, {"sentences", "paper"}, results.samples, [&] {
    return recover(SentenceAttack{.method = "paper", .cutoff = cutoff}, observation, update.truth);
  }));
  if (best) {
    json row = sentence_row(update, {"sentences", "best"}, results.samples, [&] { return std::move(*best); });
    row["seconds"] = seconds;
    results.rows.push_back(std::move(row));
  }
}

}  // namespace undertext
