#include "attacks/film/step_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::int64_t kAlternatives = 6;  // to each token of a kept sentence
constexpr std::int64_t kFirstSteps = 4;    // tried from each start
// Evidence and prior of a step together: below kHopeless it is followed only once in kPatience steps, since
// noise has heavy tails, and below kSure the prefix before it may be a whole sentence as well.
constexpr double kSure = 6;
constexpr int kPatience = 4;
// Prefixes that differ only before their last tokens compete for the same steps.
constexpr std::size_t kSuffix = 4;
constexpr int kSameSuffix = 2;

}  // namespace

StepSearch::StepSearch(std::shared_ptr<const Transformer> model, const Tail& tail, std::vector<Token> starts)
    : model_(std::move(model)), tail_(tail), starts_(std::move(starts)) {
  TransformerReader reader(model_, true);
  const std::vector<StateId> none(starts_.size(), -1);
  std::vector<StateId> states(starts_.size());
  const StateId first = reader.extend(none, starts_);
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = first + static_cast<StateId>(i);
  first_ = tail_.contexts(reader, states);
}

std::vector<ScoredStep> StepSearch::first_steps(const StepScores& scores, double w) const {
  return scores.best(first_, w, kFirstSteps);
}

// New prefixes to begin with: pairs of tokens, and branches off kept sentences.
std::vector<StepSearch::Prefix> StepSearch::grown_from(const StepScores& scores,
                                                       std::span<const Sentence> kept,
                                                       const StepSearchOptions& options,
                                                       TransformerReader& reader) const {
  const double w = options.weight;
  const auto value = [&](const ScoredStep& step) {
    return step.evidence(w) + options.prior * step.log_probability;
  };
  std::vector<Prefix> result;
  // Starts, by their best step.
  std::vector<std::pair<double, std::int32_t>> ranked;
  {
    std::map<std::int32_t, double> best;
    for (const ScoredStep& step : first_steps(scores, w)) {
      const auto [at, fresh] = best.emplace(step.context, value(step));
      if (!fresh) at->second = std::max(at->second, value(step));
    }
    for (const auto& [start, score] : best) ranked.push_back({-score, start});
  }
  std::ranges::sort(ranked);
  if (std::ssize(ranked) > options.starts) ranked.resize(static_cast<std::size_t>(options.starts));
  std::vector<StateId> from;
  std::vector<Token> tokens;
  for (const auto& [score, start] : ranked) {
    from.push_back(-1);
    tokens.push_back(starts_[static_cast<std::size_t>(start)]);
    result.push_back({{tokens.back()}, -1, 0, static_cast<std::int32_t>(result.size()), 0});
  }
  const StateId first = reader.extend(from, tokens);
  for (std::size_t i = 0; i < result.size(); ++i) result[i].state = first + static_cast<StateId>(i);

  std::set<Sentence> seen;
  for (const Prefix& prefix : result) seen.insert(prefix.tokens);
  const auto group = static_cast<std::int32_t>(result.size());
  for (Prefix& prefix : places_of(kept, reader)) {
    prefix.group += group;
    if (!seen.contains(prefix.tokens)) result.push_back(std::move(prefix));
  }
  return result;
}

std::vector<StepSearch::Prefix> StepSearch::places_of(std::span<const Sentence> kept,
                                                      TransformerReader& reader) const {
  std::vector<Prefix> result;
  std::vector<StateId> at(kept.size(), -1);
  std::set<Sentence> seen;
  for (std::size_t place = 0;; ++place) {
    std::vector<std::size_t> who;
    std::vector<StateId> states;
    std::vector<Token> read;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (place < kept[i].size()) who.push_back(i), states.push_back(at[i]), read.push_back(kept[i][place]);
    if (who.empty()) return result;
    const StateId begin = reader.extend(states, read);
    for (std::size_t j = 0; j < who.size(); ++j) {
      const std::size_t i = who[j];
      at[i] = begin + static_cast<StateId>(j);
      Sentence so_far(kept[i].begin(), kept[i].begin() + static_cast<std::ptrdiff_t>(place + 1));
      if (seen.insert(so_far).second)
        result.push_back({std::move(so_far), at[i], 0, static_cast<std::int32_t>(i), 0});
    }
  }
}

std::vector<Sentence> StepSearch::repairs(const StepScores& scores, std::span<const Sentence> kept,
                                          const StepSearchOptions& options) const {
  if (kept.empty()) return {};
  TransformerReader reader(model_, true);
  const std::vector<Prefix> places = places_of(kept, reader);
  std::vector<StateId> states;
  for (const Prefix& prefix : places) states.push_back(prefix.state);
  std::vector<std::pair<double, Sentence>> changed;
  for (const ScoredStep& step :
       scores.best(tail_.contexts(reader, states), options.weight, kAlternatives, options.prior)) {
    const double value = step.evidence(options.weight) + options.prior * step.log_probability;
    const Prefix& prefix = places[static_cast<std::size_t>(step.context)];
    const Sentence& whole = kept[static_cast<std::size_t>(prefix.group)];
    const auto length = static_cast<std::ptrdiff_t>(prefix.tokens.size());
    if (value < kHopeless || length >= std::ssize(whole) || whole[prefix.tokens.size()] == step.token ||
        !scores.is_read(step.token))
      continue;
    for (const std::ptrdiff_t skip : {1, 0}) {
      if (length + 1 + std::ssize(whole) - length - skip > options.longest) continue;
      Sentence sentence = prefix.tokens;
      sentence.push_back(step.token);
      sentence.insert(sentence.end(), whole.begin() + length + skip, whole.end());
      changed.push_back({value, std::move(sentence)});
    }
  }
  std::ranges::sort(changed, std::greater<>());
  std::vector<Sentence> result;
  for (auto& [value, sentence] : changed) result.push_back(std::move(sentence));
  for (const Sentence& whole : kept)  // one token too many
    if (whole.size() > 2) result.emplace(result.begin(), whole.begin(), whole.end() - 1);
  return result;
}

std::vector<FoundPrefix> StepSearch::run(const StepScores& scores, std::span<const Sentence> kept,
                                         const StepSearchOptions& options) const {
  TransformerReader reader(model_, true);
  std::vector<Prefix> beam = grown_from(scores, kept, options, reader);
  std::vector<FoundPrefix> pool;
  std::vector<std::int32_t> group_of;
  bool roots = true;  // their steps must stand out, and they are no sentences themselves
  while (!beam.empty()) {
    std::vector<StateId> states;
    for (const Prefix& prefix : beam) states.push_back(prefix.state);
    const TailContexts contexts = tail_.contexts(reader, states);
    const std::vector<ScoredStep> steps =
        scores.best(contexts, options.weight, options.children, options.prior);
    std::vector<double> best(beam.size(), -INFINITY);
    struct Child {
      double score;
      std::int32_t parent;
      Token token;
      int since_bad;
    };
    std::map<std::int32_t, std::vector<Child>> children;  // by group
    for (const ScoredStep& step : steps) {
      const auto parent = static_cast<std::size_t>(step.context);
      const Prefix& prefix = beam[parent];
      const double value = step.evidence(options.weight) + options.prior * step.log_probability;
      best[parent] = std::max(best[parent], value);
      const bool bad = value < kHopeless;
      if ((bad && (roots || prefix.since_bad < kPatience)) || std::ssize(prefix.tokens) >= options.longest ||
          !scores.is_read(prefix.tokens.back()))
        continue;
      children[prefix.group].push_back(
          {prefix.score + value, step.context, step.token, bad ? 0 : prefix.since_bad + 1});
    }
    if (!roots)
      for (std::size_t i = 0; i < beam.size(); ++i)
        if (best[i] < kSure || std::ssize(beam[i].tokens) >= options.longest ||
            !scores.is_read(beam[i].tokens.back()))
          pool.push_back({beam[i].tokens, beam[i].score}), group_of.push_back(beam[i].group);
    std::vector<Prefix> next;
    for (auto& [group, list] : children) {
      std::ranges::sort(list, [](const Child& a, const Child& b) {
        return a.score != b.score ? a.score > b.score
                                  : std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
      });
      std::map<Sentence, int> suffixes;
      std::int64_t taken = 0;
      for (const Child& child : list) {
        if (taken >= options.per_start) break;
        const Prefix& parent = beam[static_cast<std::size_t>(child.parent)];
        Prefix grown{parent.tokens, parent.state, child.score, group, child.since_bad};
        grown.tokens.push_back(child.token);
        const std::size_t length = grown.tokens.size();
        if (length > kSuffix &&
            suffixes[Sentence(grown.tokens.end() - kSuffix, grown.tokens.end())]++ >= kSameSuffix)
          continue;
        next.push_back(std::move(grown));
        ++taken;
      }
    }
    if (next.empty()) break;
    // Only what is needed stays in memory.
    std::vector<StateId> needed;
    for (const Prefix& prefix : next) needed.push_back(prefix.state);
    std::ranges::sort(needed);
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    reader.keep(needed);
    std::vector<StateId> from;
    std::vector<Token> tokens;
    for (const Prefix& prefix : next) {
      from.push_back(static_cast<StateId>(std::ranges::lower_bound(needed, prefix.state) - needed.begin()));
      tokens.push_back(prefix.tokens.back());
    }
    const StateId first = reader.extend(from, tokens);
    for (std::size_t i = 0; i < next.size(); ++i) next[i].state = first + static_cast<StateId>(i);
    beam = std::move(next);
    roots = false;
  }
  std::map<std::int32_t, std::size_t> first_of;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto [at, fresh] = first_of.emplace(group_of[i], i);
    if (!fresh && pool[i].score > pool[at->second].score) at->second = i;
  }
  for (const auto& [group, at] : first_of) pool[at].first = true;
  std::ranges::sort(pool, [](const FoundPrefix& a, const FoundPrefix& b) {
    if (a.first != b.first) return a.first;
    return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
  });
  return pool;
}

}  // namespace undertext
