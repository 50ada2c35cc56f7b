#include "attacks/film/trunk.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace undertext {
namespace {

// The same however many rows there are.
double dot(const float* a, const float* b, std::int64_t n) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::int64_t l = 0; l < 8; ++l) lanes[l] += static_cast<double>(a[i + l]) * b[i + l];
  for (; i < n; ++i) lanes[0] += static_cast<double>(a[i]) * b[i];
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

}  // namespace

// How far a candidate was followed.
struct Trunk::Walk {
  std::size_t candidate;
  std::size_t next;  // place of the first token whose probability is not known yet
  StateId state;     // after the tokens before it
};

void Trunk::extend(std::span<const StateId> from, std::span<const Token> tokens) {
  if (tokens.empty()) return;
  const StateId first = reader_.extend(from, tokens);
  log_total_.resize(static_cast<std::size_t>(first) + tokens.size());
  log_normalisers(model_->output(), reader_.hidden(first), std::ssize(tokens), log_total_.data() + first,
                  workspace_);
}

double Trunk::log_probability(StateId after, Token token) const {
  const OutputWeights output = model_->output();
  const double logit = dot(reader_.hidden(after), output.weight + token * output.embedding, output.embedding);
  return std::min(
      0.0, logit + (output.bias ? output.bias[token] : 0) - log_total_[static_cast<std::size_t>(after)]);
}

void Trunk::read(const Sentence& sentence) {
  reader_.clear();
  log_total_.clear();
  sentence_ = sentence;
  std::vector<StateId> from(sentence.size());
  std::iota(from.begin(), from.end(), -1);
  extend(from, sentence);
}

Matrix<double> Trunk::links() const {
  const std::int64_t n = std::ssize(sentence_);
  Matrix<double> result(n + 1, n + 1);
  for (std::int64_t i = 1; i <= n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      result(i, j) = log_probability(static_cast<StateId>(i - 1), sentence_[static_cast<std::size_t>(j)]);
  return result;
}

std::vector<double> Trunk::losses(std::span<const Sentence> candidates, std::span<const double> limits) {
  std::vector<double> result(candidates.size(), 0.0), prefix(sentence_.size() + 1, 0.0);
  for (std::size_t i = 1; i < sentence_.size(); ++i)
    prefix[i + 1] = prefix[i] - log_probability(static_cast<StateId>(i - 1), sentence_[i]);
  std::vector<Walk> walks;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const auto [differs, _] = std::ranges::mismatch(candidates[c], sentence_);
    const auto shared = static_cast<std::size_t>(differs - candidates[c].begin());
    result[c] = prefix[shared];
    walks.push_back({c, shared, static_cast<StateId>(shared) - 1});
  }

  std::map<std::pair<StateId, Token>, StateId> known;  // what was read beyond the trunk
  // Most candidates fall at the first tokens that changed, so few are read at first, and twice as many each
  // time: few calls for those that last.
  for (std::size_t tokens = 1; !walks.empty(); tokens *= 2) {
    std::vector<StateId> from;
    std::vector<Token> read;
    const auto first = static_cast<StateId>(log_total_.size());
    std::vector<Walk> going;
    for (Walk walk : walks) {
      const Sentence& candidate = candidates[walk.candidate];
      // Its next token is seen from where it stands.
      if (walk.state >= 0 && walk.next < candidate.size())
        result[walk.candidate] -= log_probability(walk.state, candidate[walk.next]);
      if (result[walk.candidate] > limits[walk.candidate]) result[walk.candidate] = INFINITY;
      if (std::isinf(result[walk.candidate]) || walk.next + 1 >= candidate.size()) continue;
      going.push_back(walk);
      StateId at = walk.state;
      for (std::size_t i = walk.next; i < walk.next + tokens && i + 1 < candidate.size(); ++i) {
        const auto [child, fresh] =
            known.try_emplace({at, candidate[i]}, first + static_cast<StateId>(read.size()));
        if (fresh) {
          from.push_back(at);
          read.push_back(candidate[i]);
        }
        at = child->second;
      }
    }
    extend(from, read);
    // On to the last token that was read; the next round sees what follows it.
    for (Walk& walk : going) {
      const Sentence& candidate = candidates[walk.candidate];
      const std::size_t end = std::min(walk.next + tokens, candidate.size() - 1);
      for (; walk.next < end; ++walk.next) {
        if (walk.next + 1 < end)
          result[walk.candidate] -=
              log_probability(known.at({walk.state, candidate[walk.next]}), candidate[walk.next + 1]);
        walk.state = known.at({walk.state, candidate[walk.next]});
      }
    }
    walks = std::move(going);
  }
  std::vector<StateId> own(sentence_.size());
  std::iota(own.begin(), own.end(), 0);
  reader_.keep(own);
  log_total_.resize(sentence_.size());
  return result;
}

}  // namespace undertext
