#include "attacks/film/beam_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/threads.h"

namespace undertext {

struct BeamSearch::Child {
  double rank;
  std::size_t beam;
  std::size_t word;  // of the bag
  bool repeats;

  // Best first; the order never depends on how the children were found.
  bool operator<(const Child& other) const {
    return rank != other.rank ? rank > other.rank : std::pair(beam, word) < std::pair(other.beam, other.word);
  }
};

std::vector<bool> repeats(const Sentence& sentence, const std::vector<Sentence>& earlier,
                          const std::vector<Token>& bag, std::int64_t n) {
  std::vector<bool> result(bag.size(), false);
  const auto before = static_cast<std::ptrdiff_t>(n) - 1;  // tokens of an n-gram that come before its last
  if (n < 1 || std::ssize(sentence) < before) return result;
  const auto mark = [&](const Sentence& other) {
    for (std::ptrdiff_t i = 0; i + before < std::ssize(other); ++i) {
      if (!std::equal(other.begin() + i, other.begin() + i + before, sentence.end() - before)) continue;
      const auto at = std::ranges::lower_bound(bag, other[static_cast<std::size_t>(i + before)]);
      if (at != bag.end() && *at == other[static_cast<std::size_t>(i + before)])
        result[static_cast<std::size_t>(at - bag.begin())] = true;
    }
  };
  mark(sentence);
  for (const Sentence& other : earlier) mark(other);
  return result;
}

BeamSearch::BeamSearch(std::shared_ptr<const Transformer> model, std::vector<Token> bag,
                       const BeamOptions& options)
    : model_(std::move(model)),
      bag_(std::move(bag)),
      options_(options),
      words_(*model_, bag_),
      reader_(model_) {}

double BeamSearch::score(const Hypothesis& hypothesis) const {
  return hypothesis.log_probability -
         (hypothesis.repeated > 0 ? options_.ngram_penalty * hypothesis.repeated : 0);
}

// Reads the last token of every beam. What several groups hold is read once.
void BeamSearch::read(std::vector<Group>& groups) {
  std::vector<StateId> needed;
  for (const Group& group : groups)
    for (const Beam& beam : group)
      if (beam.state >= 0) needed.push_back(beam.state);
  std::ranges::sort(needed);
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  reader_.keep(needed);
  first_ = static_cast<StateId>(needed.size());
  std::map<std::pair<StateId, Token>, StateId> known;
  std::vector<StateId> from;
  std::vector<Token> tokens;
  for (Group& group : groups)
    for (Beam& beam : group) {
      const auto at = std::ranges::lower_bound(needed, beam.state) - needed.begin();
      const StateId parent = beam.state < 0 ? -1 : static_cast<StateId>(at);
      const auto [child, fresh] =
          known.try_emplace({parent, beam.tokens.back()}, first_ + static_cast<StateId>(tokens.size()));
      beam.state = child->second;
      if (!fresh) continue;
      from.push_back(parent);
      tokens.push_back(beam.tokens.back());
    }
  reader_.extend(from, tokens);
  read_ = static_cast<std::int64_t>(tokens.size());
}

// The bag's rows of the output layer were gathered once; what all words sum to keeps no logits.
Matrix<float> BeamSearch::log_probabilities() {
  const float* h = reader_.hidden(first_);
  Matrix<float> result = words_.logits(h, read_);
  std::vector<double> log_total(static_cast<std::size_t>(read_));
  log_normalisers(model_->output(), h, read_, log_total.data(), workspace_);
  for (std::int64_t i = 0; i < read_; ++i)
    for (std::int64_t j = 0; j < result.cols; ++j)
      result(i, j) = static_cast<float>(result(i, j) - log_total[static_cast<std::size_t>(i)]);
  return result;
}

// The k best continuations of a group. taken: by token of the bag, what earlier groups take off its score.
BeamSearch::Group BeamSearch::step(const Group& group, const Matrix<float>& log_probability,
                                   const std::vector<double>& taken,
                                   const std::vector<Sentence>& earlier) const {
  const auto most = static_cast<std::size_t>(options_.beams);
  const bool block = std::isinf(options_.ngram_penalty);
  std::vector<std::vector<Child>> of_beam(group.size());
  parallel_for(std::ssize(group), [&](std::int64_t b) {
    const Beam& beam = group[static_cast<std::size_t>(b)];
    const float* row = log_probability.row(beam.state - first_);
    const std::vector<bool> again = repeats(beam.tokens, earlier, bag_, options_.ngram);
    const double own = score(beam);
    std::vector<Child>& children = of_beam[static_cast<std::size_t>(b)];
    for (std::size_t j = 0; j < bag_.size(); ++j) {
      if (again[j] && block) continue;
      const double rank = own + row[j] - taken[j] - (again[j] ? options_.ngram_penalty : 0);
      children.push_back({rank, static_cast<std::size_t>(b), j, again[j]});
    }
    if (children.size() <= most) return;
    std::ranges::nth_element(children, children.begin() + static_cast<std::ptrdiff_t>(most), std::less<>());
    children.resize(most);
  });
  std::vector<Child> children;
  for (const std::vector<Child>& some : of_beam) children.insert(children.end(), some.begin(), some.end());
  const std::size_t kept = std::min(most, children.size());
  std::partial_sort(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(kept), children.end());
  Group result;
  for (std::size_t i = 0; i < kept; ++i) {
    const Child& child = children[i];
    result.push_back(group[child.beam]);
    Beam& beam = result.back();
    beam.tokens.push_back(bag_[child.word]);
    beam.log_probability +=
        log_probability(group[child.beam].state - first_, static_cast<std::int64_t>(child.word));
    beam.repeated += child.repeats ? 1 : 0;
  }
  return result;
}

void BeamSearch::add_taken(const Group& group, std::vector<double>& taken) const {
  for (const Beam& beam : group)
    for (const Token token : beam.tokens) {
      const auto at = std::ranges::lower_bound(bag_, token);
      if (at != bag_.end() && *at == token)
        taken[static_cast<std::size_t>(at - bag_.begin())] += options_.diversity;
    }
}

std::vector<Hypothesis> BeamSearch::run(const std::vector<Token>& starts,
                                        const std::vector<Sentence>& earlier) {
  reader_.clear();
  Group first;
  for (const Token start : starts) {
    first.emplace_back();
    first.back().tokens = {start};
  }
  std::vector<Group> groups(static_cast<std::size_t>(options_.groups), first), ended;
  for (std::int64_t place = 1; place < options_.longest && !groups.empty() && !first.empty(); ++place) {
    read(groups);
    const Matrix<float> log_probability = log_probabilities();
    std::vector<Group> grown;
    std::vector<double> taken(bag_.size(), 0.0);
    for (Group& group : groups) {
      Group next = step(group, log_probability, taken, earlier);
      if (next.empty()) {  // nothing may follow
        ended.push_back(std::move(group));
        continue;
      }
      if (options_.groups > 1) add_taken(next, taken);
      grown.push_back(std::move(next));
    }
    groups = std::move(grown);
  }
  groups.insert(groups.end(), ended.begin(), ended.end());
  std::vector<Hypothesis> result;
  for (const Group& group : groups) {
    if (group.empty()) continue;
    result.push_back(
        *std::ranges::max_element(group, [&](const Beam& x, const Beam& y) { return score(x) < score(y); }));
  }
  std::ranges::stable_sort(result,
                           [&](const Hypothesis& x, const Hypothesis& y) { return score(x) > score(y); });
  return result;
}

}  // namespace undertext
