#include "attacks/records/published_records.h"

#include <algorithm>

#include "attacks/records/ranked_records.h"
#include "attacks/records/record_correlation.h"
#include "base/error.h"
#include "base/ranks.h"

namespace undertext {
namespace {

const std::string& watermark_of(const RecordAttack& attack, std::int64_t victim) {
  const auto mark = std::ranges::find(attack.watermarks, victim, &Watermark::client);
  UNDERTEXT_CHECK(mark != attack.watermarks.end());
  return mark->text;
}

}  // namespace

std::vector<VictimRecords> published_records(const FederationObservation& observation,
                                             const ExposureTable& table,
                                             const std::vector<std::string>& texts, double log2_texts,
                                             const RecordAttack& attack) {
  const Matrix<double>& exposure = attack.exposure == ExposureOf::whole ? table.whole : table.free;
  const auto n = static_cast<std::size_t>(table.records());
  std::vector<std::vector<double>> changes;
  std::vector<std::int64_t> owners;
  std::vector<double> last;
  for (std::int64_t r = 0; r < table.records(); ++r) {
    changes.push_back(exposure_changes(of_record(exposure, r)));
    owners.push_back(owner_by_correlation(changes.back(), observation));
    last.push_back(exposure(exposure.rows - 1, r));
  }
  const std::vector<double> last_ranks = average_ranks_from_top(last);

  std::vector<VictimRecords> victims;
  for (const std::int64_t victim : attack.victims) {
    std::vector<double> mark;
    if (attack.method == RecordMethod::watermark)
      mark = exposure_changes(
          exposures_of_text(observation, observation.tokenizer->encode(watermark_of(attack, victim))));
    std::vector<double> correlation;
    for (const std::vector<double>& own : changes)
      correlation.push_back(mark.empty() ? eavesdropping_correlation(own, observation, victim)
                                         : watermark_correlation(own, mark));
    const std::vector<RankedRecord> ranked =
        attack.method == RecordMethod::baseline ? rank_by_exposure(last) : rank_by_sum(correlation, last);
    VictimRecords& records = victims.emplace_back();
    records.client = victim;
    records.candidates.reserve(n);
    for (const RankedRecord& one : ranked) {
      const auto r = static_cast<std::size_t>(one.record);
      records.candidates.push_back({.text = texts[r],
                                    .rank = one.rank,
                                    .correlation = correlation[r],
                                    .exposure = table.whole(table.rounds(), one.record),
                                    .owner = owners[r],
                                    .bits = exposure_in_bits(log2_texts, last_ranks[r])});
    }
  }
  return victims;
}

}  // namespace undertext
