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

std::vector<VictimRecords> published_records(const FederationObservation& observation, const RankedFrom& from,
                                             const RecordAttack& attack) {
  const bool whole = attack.formula == RecordFormula::paper || attack.method == RecordMethod::baseline;
  const ExposureTable& table = from.table;
  const Matrix<double>& exposure = whole ? table.whole : table.free;
  const auto n = static_cast<std::size_t>(table.records());
  std::vector<std::vector<double>> changes;
  std::vector<std::int64_t> owners;
  std::vector<double> last;  // the mean of the last models
  for (std::int64_t r = 0; r < table.records(); ++r) {
    changes.push_back(exposure_changes(of_record(exposure, r)));
    owners.push_back(owner_by_correlation(changes.back(), observation));
    double sum = 0;
    for (std::int64_t model = 0; model < from.models; ++model) sum += exposure(table.rounds() - model, r);
    last.push_back(sum / static_cast<double>(from.models));
  }
  const double* after_last = table.whole.row(table.rounds());
  const std::vector<double> last_ranks =
      average_ranks_from_top(std::span(after_last, static_cast<std::size_t>(from.of_last)));

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
      records.candidates.push_back({.text = from.texts[r],
                                    .rank = one.rank,
                                    .correlation = correlation[r],
                                    .exposure = table.whole(table.rounds(), one.record),
                                    .owner = owners[r]});
      if (one.record < from.of_last)
        records.candidates.back().bits = exposure_in_bits(from.log2_texts, last_ranks[r]);
    }
  }
  return victims;
}

}  // namespace undertext
