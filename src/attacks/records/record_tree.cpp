#include "attacks/records/record_tree.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attacks/records/pattern_reader.h"
#include "base/error.h"

namespace undertext {

RecordTree::RecordTree(const TokenPattern& pattern, std::span<const Sentence> records, Sentence context)
    : pattern_(pattern),
      context_(std::move(context)),
      depth_begin_{0},
      leaf_(records.size(), -1),
      free_(records.size(), 0) {
  std::size_t longest = 0;
  for (const Sentence& record : records) {
    UNDERTEXT_CHECK(!record.empty());
    length_.push_back(std::ssize(record));
    longest = std::max(longest, record.size());
  }
  for (std::size_t t = 0; t < longest; ++t) {
    std::map<std::pair<std::int32_t, Token>, std::int32_t> known;  // by parent
    for (std::size_t r = 0; r < records.size(); ++r) {
      if (t >= records[r].size()) continue;
      const std::int32_t parent = leaf_[r];
      const std::int32_t state = parent < 0 ? 0 : nodes_[static_cast<std::size_t>(parent)].edge->to;
      const auto [node, fresh] =
          known.try_emplace({parent, records[r][t]}, static_cast<std::int32_t>(nodes_.size()));
      if (fresh) {
        const TokenPattern::Edge* edge = pattern.edge(state, records[r][t]);
        UNDERTEXT_CHECK(edge);
        nodes_.push_back({parent, state, edge});
        if (parent >= 0) nodes_[static_cast<std::size_t>(parent)].inner = true;
      }
      leaf_[r] = node->second;
      free_[r] += nodes_[static_cast<std::size_t>(leaf_[r])].edge->free ? 1 : 0;
    }
    depth_begin_.push_back(std::ssize(nodes_));
  }
}

std::int64_t RecordTree::predicted(std::int64_t record, const LanguageModel& model) const {
  const bool first = model.start_token() != kNoToken || !context_.empty();
  return length_[static_cast<std::size_t>(record)] - (first ? 0 : 1);
}

std::vector<RecordLikelihood> RecordTree::likelihoods(std::shared_ptr<const LanguageModel> model) const {
  PatternReader reader(std::move(model), pattern_, context_);
  std::vector<RecordLikelihood> at(nodes_.size());
  std::vector<std::int64_t> row(nodes_.size(), 0);  // among those of its length that were read
  Matrix<float> log_probability(1, std::ssize(pattern_.alphabet()));  // after each of them
  bool predicted = reader.begin() != PatternReader::kNothing;
  if (predicted) log_probability = reader.log_probabilities(reader.begin(), 1);
  StateId before = reader.begin();  // the first state of the length before
  for (std::size_t t = 0; t + 1 < depth_begin_.size(); ++t) {
    std::vector<StateId> states;
    std::vector<Token> tokens;
    for (std::int64_t n = depth_begin_[t]; n < depth_begin_[t + 1]; ++n) {
      const auto node = static_cast<std::size_t>(n);
      const auto parent = static_cast<std::size_t>(nodes_[node].parent);
      const std::int64_t parent_row = t == 0 ? 0 : row[parent];
      RecordLikelihood& sum = at[node];
      if (t > 0) sum = at[parent];
      if (predicted) {
        const float* log_p = log_probability.row(parent_row);
        const double own = log_p[nodes_[node].edge->slot];
        double allowed = 0;
        for (const auto& edge : pattern_.states()[static_cast<std::size_t>(nodes_[node].state)].edges)
          allowed += std::exp(static_cast<double>(log_p[edge.slot]));
        sum.whole += own;
        sum.free += nodes_[node].edge->free ? own : 0;
        sum.given += own - std::log(allowed);
      }
      if (!nodes_[node].inner) continue;
      row[node] = std::ssize(states);
      states.push_back(before + static_cast<StateId>(parent_row));
      tokens.push_back(nodes_[node].edge->token);
    }
    if (states.empty()) break;
    const StateId first = reader.extend(states, tokens);
    std::vector<StateId> fresh(states.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = first + static_cast<StateId>(i);
    reader.keep(fresh);
    before = 0;
    predicted = true;
    log_probability = reader.log_probabilities(before, std::ssize(states));
  }
  std::vector<RecordLikelihood> result;
  for (const std::int32_t leaf : leaf_) result.push_back(at[static_cast<std::size_t>(leaf)]);
  return result;
}

}  // namespace undertext
