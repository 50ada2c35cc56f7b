#include "attacks/records/best_records.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attacks/records/exact_top.h"
#include "attacks/records/exposure_table.h"
#include "attacks/records/observed_rounds.h"
#include "attacks/records/owner_evidence.h"
#include "attacks/records/owner_scores.h"
#include "attacks/records/ranked_records.h"
#include "attacks/records/record_correlation.h"
#include "attacks/records/unknown_parts.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/ranks.h"

namespace undertext {
namespace {

constexpr std::int64_t kMostRounds = 60;                      // five half-lives of the regression
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 28;  // of all models that are held at once
constexpr std::int64_t kMostListed = 100, kMostRead = 3000;
constexpr int kRefinements = 2;  // of parts that are unknown
constexpr int kSettlements = 8;  // of records that several clients claim

using Snapshots = std::vector<std::shared_ptr<const LanguageModel>>;

// How many of the last rounds can be looked at together.
std::int64_t rounds_held(const FederationObservation& observation) {
  std::int64_t numbers = 0;
  for (const auto& [name, tensor] : observation.model(observation.rounds)->parameters())
    numbers += tensor.numel();
  const std::int64_t fit = std::max<std::int64_t>(8, kMostNumbers / std::max<std::int64_t>(1, numbers));
  return std::min({observation.rounds, kMostRounds, fit});
}

// A client's claim to a record.
struct Claim {
  std::int64_t record = 0;     // in the table
  double log_probability = 0;  // by OwnerScores
  double confidence = 0;
};

class Search {
 public:
  Search(const FederationObservation& observation, const TokenPattern& tokens, const Sentence& context,
         std::int64_t top)
      : observation_(observation), tokens_(tokens), context_(context) {
    options_.top = top;
    options_.batch = top;
    options_.most_read = kMostRead;
    Progress progress("reading", observation.rounds + 1, "snapshots");
    for (std::int64_t round = 0; round <= observation.rounds; ++round) {
      snapshots_.push_back(observation.model(round));
      progress.advance();
    }
  }

  // Each victim's likeliest records, and how exposed they are.
  void run(const std::vector<std::int64_t>& victims, const Matrix<double>& parts) {
    const PartRegression regression(parts);
    std::vector<Sentence> records;
    std::map<Sentence, std::int64_t> known;
    claims_.clear();
    proven_ = options_.top;
    Progress progress("searching", std::ssize(victims), "victims");
    for (const std::int64_t victim : victims) {
      OwnerScores scores(snapshots_, tokens_, context_, regression, victim);
      const ExactTop top = exact_top(scores, tokens_, options_);
      proven_ = std::min(proven_, top.proven);
      std::vector<Claim>& own = claims_.emplace_back();
      for (const TopRecord& record : top.records) {
        const auto [at, fresh] = known.try_emplace(record.tokens, std::ssize(records));
        if (fresh) records.push_back(record.tokens);
        own.push_back({at->second, record.log_probability, 0});
      }
      progress.advance();
    }
    texts_.clear();
    for (const Sentence& record : records) texts_.push_back(tokens_.text(record));
    FederationObservation held = observation_;
    held.model = [this](std::int64_t round) { return snapshots_[static_cast<std::size_t>(round)]; };
    table_ = exposures(held, tokens_, records, context_);
  }

  // What each claim is worth: its likelihood, and whether the record really moves with the client.
  void judge(const std::vector<std::int64_t>& victims, const OwnerEvidence& evidence) {
    for (std::size_t v = 0; v < victims.size(); ++v)
      for (Claim& claim : claims_[v])
        claim.confidence = std::exp(claim.log_probability) *
                           evidence.chance(of_record(table_.given, claim.record), victims[v]);
  }

  // Two clients seldom have the same record: what one of them surely has, the others have not, and what they
  // have is one of their other claims. strength: 0 where clients may well have the same.
  void settle(double strength) {
    const std::vector<std::vector<Claim>> alone = claims_;
    for (int i = 0; i < kSettlements; ++i) {
      std::vector<double> free(texts_.size(), 1.0);  // the chance that nobody has the record
      for (const auto& own : claims_)
        for (const Claim& claim : own) free_of(free, claim) *= 1 - strength * claim.confidence;
      std::vector<std::vector<Claim>> next = alone;
      for (std::size_t v = 0; v < next.size(); ++v) {
        double before = 0, after = 0;
        for (std::size_t c = 0; c < next[v].size(); ++c) {
          const double own = 1 - strength * claims_[v][c].confidence;
          const double others = own > 0 ? std::min(1.0, free_of(free, next[v][c]) / own) : 0.0;
          before += next[v][c].confidence;
          next[v][c].confidence *= others;
          after += next[v][c].confidence;
        }
        const double rest = std::max(0.0, 1 - before);  // something that is not listed
        if (after + rest > 0)
          for (Claim& claim : next[v]) claim.confidence /= after + rest;
      }
      claims_ = std::move(next);
    }
    for (std::vector<Claim>& own : claims_)
      std::ranges::stable_sort(own,
                               [](const Claim& x, const Claim& y) { return x.confidence > y.confidence; });
  }

  const std::vector<std::vector<Claim>>& claims() const { return claims_; }  // of each victim, best first
  const ExposureTable& table() const { return table_; }
  const std::vector<std::string>& texts() const { return texts_; }
  std::int64_t proven() const { return proven_; }

 private:
  static double& free_of(std::vector<double>& free, const Claim& claim) {
    return free[static_cast<std::size_t>(claim.record)];
  }

  const FederationObservation& observation_;
  const TokenPattern& tokens_;
  const Sentence& context_;
  ExactTopOptions options_;
  Snapshots snapshots_;
  std::vector<std::vector<Claim>> claims_;
  std::vector<std::string> texts_;
  ExposureTable table_;
  std::int64_t proven_ = 0;
};

bool has_unknown(const FederationObservation& observation) {
  return std::ranges::any_of(observation.took_part, [](const auto& round) {
    return std::ranges::find(round, TookPart::unknown) != round.end();
  });
}

}  // namespace

BestRecords best_records(const FederationObservation& whole, const RecordPattern& pattern,
                         const TokenPattern& tokens, const Sentence& context,
                         const std::vector<std::int64_t>& victims, std::int64_t candidates) {
  BestRecords result;
  result.first_round = whole.rounds - rounds_held(whole);
  const FederationObservation observation = rounds_of(whole, result.first_round, whole.rounds);
  const double strength = 1 - std::min(1.0, static_cast<double>(observation.clients) / pattern.size());
  Search search(observation, tokens, context, std::min(candidates, kMostListed));
  Matrix<double> parts = expected_parts(observation);
  const int refinements = has_unknown(observation) ? kRefinements : 0;
  for (int i = 0;; ++i) {
    search.run(victims, parts);
    search.judge(victims, OwnerEvidence(parts));
    search.settle(strength);
    if (i == refinements) break;
    std::vector<FoundRecord> found;
    for (std::size_t v = 0; v < victims.size(); ++v) {
      const Claim& best = search.claims()[v].front();
      found.push_back({victims[v], best.confidence, of_record(search.table().given, best.record)});
    }
    parts = refined_parts(observation, parts, found);
  }

  const OwnerEvidence evidence(parts);
  const ExposureTable& table = search.table();
  result.proven = search.proven();
  for (std::size_t v = 0; v < victims.size(); ++v) {
    VictimRecords& records = result.victims.emplace_back();
    records.client = victims[v];
    for (const Claim& claim : search.claims()[v]) {
      const std::vector<double> changes = exposure_changes(of_record(table.given, claim.record));
      RecoveredRecord& record = records.candidates.emplace_back();
      record.text = search.texts()[static_cast<std::size_t>(claim.record)];
      record.rank = static_cast<double>(records.candidates.size());
      record.correlation = eavesdropping_correlation(changes, observation, victims[v]);
      record.exposure = table.whole(table.rounds(), claim.record);
      record.owner = evidence.likeliest_owner(of_record(table.given, claim.record));
      record.confidence = claim.confidence;
    }
  }
  return result;
}

}  // namespace undertext
