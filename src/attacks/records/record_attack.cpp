#include "attacks/records/record_attack.h"

#include <algorithm>
#include <numeric>

#include "attacks/records/best_records.h"
#include "attacks/records/exposure_table.h"
#include "attacks/records/published_records.h"
#include "base/error.h"

namespace undertext {
namespace {

// The last round says most of the records of those who took part in it. So the wide formula asks the models
// of several rounds for candidates and takes the mean of their exposures.
constexpr std::int64_t kLastModels = 8;

RecordAttack checked(RecordAttack attack, const FederationObservation& observation) {
  if (observation.rounds < 2)
    fail("the federation has {} round(s); expected two at least, so that something changes",
         observation.rounds);
  if (attack.victims.empty()) {
    attack.victims.resize(static_cast<std::size_t>(observation.clients));
    std::iota(attack.victims.begin(), attack.victims.end(), std::int64_t{0});
  }
  for (const std::int64_t victim : attack.victims) {
    if (victim < 0 || victim >= observation.clients)
      fail("there is no client {}; expected 0 to {}", victim, observation.clients - 1);
    if (attack.method == RecordMethod::watermark &&
        std::ranges::find(attack.watermarks, victim, &Watermark::client) == attack.watermarks.end())
      fail("the method watermark: no watermark of client {} is given", victim);
  }
  return attack;
}

// Records stand in lines of their own.
Sentence context_of(const RecordAttack& attack, const Tokenizer& tokenizer) {
  if (attack.context) return tokenizer.encode(*attack.context);
  const Sentence line_feed = tokenizer.encode("\n");
  return line_feed.size() == 1 && line_feed[0] != tokenizer.special().unknown ? line_feed : Sentence{};
}

}  // namespace

RecordRecovery recover_records(const FederationObservation& observation, const RecordPattern& pattern,
                               const RecordAttack& asked) {
  const RecordAttack attack = checked(asked, observation);
  const TokenPattern tokens(pattern, *observation.tokenizer);
  const Sentence context = context_of(attack, *observation.tokenizer);
  RecordRecovery recovery;
  recovery.log2_texts = pattern.log2_size();
  recovery.last_searched = observation.rounds;
  if (attack.method == RecordMethod::best) {
    BestRecords best = best_records(observation, pattern, tokens, context, attack.victims, attack.candidates);
    recovery.victims = std::move(best.victims);
    recovery.first_searched = best.first_round;
    recovery.proven = best.proven;
    return recovery;
  }
  const bool published = attack.formula == RecordFormula::paper || attack.method == RecordMethod::baseline;
  recovery.first_searched =
      published ? observation.rounds : std::max<std::int64_t>(1, observation.rounds - kLastModels + 1);
  std::vector<std::int64_t> searched;  // the last one first
  for (std::int64_t round = observation.rounds; round >= recovery.first_searched; --round)
    searched.push_back(round);
  CandidateSearch search;
  search.top = attack.candidates;
  search.context = context;
  const RecordCandidates found = likeliest_records(observation, tokens, searched, search);
  recovery.proven = found.proven.front();
  std::vector<std::string> texts;
  for (const Sentence& record : found.records) texts.push_back(tokens.text(record));
  const RankedFrom from{exposures(observation, tokens, found.records, context), std::move(texts),
                        found.of_first, std::ssize(searched), recovery.log2_texts};
  recovery.victims = published_records(observation, from, attack);
  return recovery;
}

}  // namespace undertext
