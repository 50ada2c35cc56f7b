#include "metrics/ratio_table.h"

#include <algorithm>
#include <map>

#include "base/threads.h"

namespace undertext {
namespace {

struct Distinct {
  std::vector<std::int64_t> number;        // of each sentence
  std::vector<const Sentence*> sentences;  // by number
};

Distinct find_distinct(std::span<const Sentence> sentences) {
  Distinct distinct;
  std::map<Sentence, std::int64_t> seen;
  for (const Sentence& sentence : sentences) {
    const auto [place, is_new] = seen.emplace(sentence, static_cast<std::int64_t>(seen.size()));
    if (is_new) distinct.sentences.push_back(&sentence);
    distinct.number.push_back(place->second);
  }
  return distinct;
}

}  // namespace

RatioTable::RatioTable(std::span<const Sentence> truth, std::span<const Sentence> recovered,
                       const SentenceRatio& ratio) {
  Distinct rows = find_distinct(recovered), columns = find_distinct(truth);
  columns_ = static_cast<std::int64_t>(columns.sentences.size());
  ratios_.resize(rows.sentences.size() * columns.sentences.size());
  parallel_for(static_cast<std::int64_t>(rows.sentences.size()), [&](std::int64_t row) {
    double* out = ratios_.data() + row * columns_;
    for (const Sentence* sentence : columns.sentences) {
      *out++ = ratio(*rows.sentences[static_cast<std::size_t>(row)], *sentence);
    }
  });
  truth_ = std::move(columns.number);
  recovered_ = std::move(rows.number);
}

double mean_best_ratio(const RatioTable& table) {
  if (table.truth() == 0 || table.recovered() == 0) return 0;
  double sum = 0;
  for (std::int64_t r = 0; r < table.recovered(); ++r) {
    double best = 0;
    for (std::int64_t t = 0; t < table.truth(); ++t) best = std::max(best, table.at(t, r));
    sum += best;
  }
  return sum / static_cast<double>(table.recovered());
}

}  // namespace undertext
