#include "attacks/records/exposure_table.h"

#include <algorithm>
#include <set>

#include "attacks/records/exact_top.h"
#include "attacks/records/pattern_reader.h"
#include "attacks/records/record_tree.h"
#include "base/progress.h"
#include "base/threads.h"

namespace undertext {

RecordCandidates likeliest_records(const FederationObservation& observation, const TokenPattern& pattern,
                                   std::span<const std::int64_t> rounds, const CandidateSearch& search) {
  std::vector<ExactTop> tops(rounds.size());
  ExactTopOptions options;
  options.top = search.top;
  options.most_read = search.most_read;
  Progress progress("searching", std::ssize(rounds), "snapshots");
  parallel_for(std::ssize(rounds), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    PatternReader reader(observation.model(rounds[at]), pattern, search.context);
    tops[at] = exact_top(reader, pattern, options);
    progress.advance();
  });
  RecordCandidates candidates;
  std::set<Sentence> known;
  for (ExactTop& top : tops) {
    candidates.proven.push_back(top.proven);
    for (TopRecord& record : top.records)
      if (known.insert(record.tokens).second) candidates.records.push_back(std::move(record.tokens));
    if (candidates.proven.size() == 1) candidates.of_first = std::ssize(candidates.records);
  }
  return candidates;
}

ExposureTable exposures(const FederationObservation& observation, const TokenPattern& pattern,
                        std::span<const Sentence> records, const Sentence& context) {
  const RecordTree tree(pattern, records, context);
  const std::int64_t rows = observation.rounds + 1, n = tree.records();
  ExposureTable table{Matrix<double>(rows, n), Matrix<double>(rows, n), Matrix<double>(rows, n)};
  Progress progress("reading", rows, "snapshots");
  parallel_for(rows, [&](std::int64_t round) {
    const std::shared_ptr<const LanguageModel> model = observation.model(round);
    const std::vector<RecordLikelihood> likelihoods = tree.likelihoods(model);
    for (std::int64_t r = 0; r < n; ++r) {
      const RecordLikelihood& one = likelihoods[static_cast<std::size_t>(r)];
      table.whole(round, r) =
          one.whole / static_cast<double>(std::max<std::int64_t>(1, tree.predicted(r, *model)));
      table.free(round, r) = one.free / static_cast<double>(std::max<std::int64_t>(1, tree.free(r)));
      table.given(round, r) = one.given;
    }
    progress.advance();
  });
  return table;
}

std::vector<double> exposures_of_text(const FederationObservation& observation, const Sentence& text) {
  std::vector<double> result(static_cast<std::size_t>(observation.rounds) + 1);
  parallel_for(observation.rounds + 1, [&](std::int64_t round) {
    const std::shared_ptr<const LanguageModel> model = observation.model(round);
    const std::span<const Sentence> texts(&text, 1);
    result[static_cast<std::size_t>(round)] =
        -model->negative_log_likelihood(texts)[0] /
        static_cast<double>(std::max<std::int64_t>(1, model->predicted(texts)));
  });
  return result;
}

std::vector<double> of_record(const Matrix<double>& table, std::int64_t record) {
  std::vector<double> column;
  for (std::int64_t row = 0; row < table.rows; ++row) column.push_back(table(row, record));
  return column;
}

}  // namespace undertext
