#include "attacks/records/exact_top.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace undertext {
namespace {

// A prefix that is not read yet: what was read before it, and its last token.
struct Open {
  double log_probability;
  StateId parent;
  std::int32_t path;   // of what was read before it
  std::int32_t state;  // of the pattern, after the token
  Token token;

  // Best first; the order never depends on how prefixes were found.
  bool operator<(const Open& other) const {
    return log_probability != other.log_probability
               ? log_probability > other.log_probability
               : std::pair(path, token) < std::pair(other.path, other.token);
  }
};

// First a beam, which finds good texts at once; then back to what the beam left over, of which the texts
// found so far rule out most, the best first. Whatever remains when the search gives up is the least likely.
class Search {
 public:
  Search(TokenScores& scores, const TokenPattern& pattern, const ExactTopOptions& options)
      : options_(options), pattern_(pattern), scores_(scores) {}

  ExactTop run() {
    begin();
    while (!children_.empty() && read_ < options_.most_read) {
      const std::vector<Open> best = take_best(children_);
      leave_children();
      read(best);
    }
    leave_children();
    while (read_ < options_.most_read) {
      drop_ruled_out();
      if (open_.empty()) break;
      read(take_best(open_));
      leave_children();
    }
    return result();
  }

 private:
  struct PathNode {
    std::int32_t before;
    Token token;
  };
  struct Found {
    double log_probability;
    std::int32_t path;  // without its last token
    Token token;
    // Heaps hold the worst at the front.
    bool operator<(const Found& other) const {
      return log_probability != other.log_probability
                 ? log_probability > other.log_probability
                 : std::pair(path, token) < std::pair(other.path, other.token);
    }
  };

  bool ruled_out(double log_probability) const {
    return std::ssize(found_) == options_.top && log_probability <= found_.front().log_probability;
  }

  void begin() {
    const std::int32_t place = 0;
    const Matrix<float> log_probability = scores_.scores(scores_.begin(), std::span(&place, 1));
    add_children(0, -1, place, scores_.begin(), log_probability.row(0));
  }

  // What follows a prefix that was read: texts that end there are found, others open.
  void add_children(double before, std::int32_t path, std::int32_t state, StateId read_state,
                    const float* log_probability) {
    for (const TokenPattern::Edge& edge : pattern_.states()[static_cast<std::size_t>(state)].edges) {
      const double sum = before + static_cast<double>(log_probability[edge.slot]);
      if (ruled_out(sum)) continue;
      const TokenPattern::State& to = pattern_.states()[static_cast<std::size_t>(edge.to)];
      if (to.final) {
        if (std::ssize(found_) == options_.top) {
          std::pop_heap(found_.begin(), found_.end());
          found_.pop_back();
        }
        found_.push_back({sum, path, edge.token});
        std::push_heap(found_.begin(), found_.end());
      }
      if (!to.edges.empty()) children_.push_back({sum, read_state, path, edge.to, edge.token});
    }
  }

  void leave_children() {
    open_.insert(open_.end(), children_.begin(), children_.end());
    children_.clear();
  }

  std::vector<Open> take_best(std::vector<Open>& from) const {
    const auto count = std::min(std::ssize(from), options_.batch);
    std::nth_element(from.begin(), from.begin() + (count - 1), from.end());
    std::vector<Open> best(from.begin(), from.begin() + count);
    from.erase(from.begin(), from.begin() + count);
    std::sort(best.begin(), best.end());
    return best;
  }

  void read(const std::vector<Open>& prefixes) {
    std::vector<StateId> states;
    std::vector<Token> tokens;
    std::vector<std::int32_t> places;
    for (const Open& open : prefixes) {
      states.push_back(open.parent);
      tokens.push_back(open.token);
      places.push_back(open.state);
    }
    const StateId first = scores_.extend(states, tokens);
    const auto n = std::ssize(prefixes);
    read_ += n;
    const Matrix<float> log_probability = scores_.scores(first, places);
    for (std::int64_t i = 0; i < n; ++i) {
      const Open& open = prefixes[static_cast<std::size_t>(i)];
      paths_.push_back({open.path, open.token});
      add_children(open.log_probability, static_cast<std::int32_t>(paths_.size()) - 1, open.state,
                   first + static_cast<StateId>(i), log_probability.row(i));
    }
    if (scores_.states() > 2 * needed_ + 4 * options_.batch) forget();
  }

  void drop_ruled_out() {
    std::erase_if(open_, [&](const Open& open) { return ruled_out(open.log_probability); });
  }

  // Forgets the states that no open prefix goes on from.
  void forget() {
    drop_ruled_out();
    std::vector<StateId> needed;
    for (const auto* list : {&open_, &children_})
      for (const Open& open : *list)
        if (open.parent >= 0) needed.push_back(open.parent);
    std::ranges::sort(needed);
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    scores_.keep(needed);
    needed_ = std::ssize(needed);
    for (auto* list : {&open_, &children_})
      for (Open& open : *list)
        if (open.parent >= 0)
          open.parent = static_cast<StateId>(std::ranges::lower_bound(needed, open.parent) - needed.begin());
  }

  ExactTop result() {
    ExactTop top;
    top.read = read_;
    std::sort(found_.begin(), found_.end());
    for (const Found& found : found_) {
      TopRecord record{{found.token}, found.log_probability};
      for (std::int32_t at = found.path; at >= 0; at = paths_[static_cast<std::size_t>(at)].before)
        record.tokens.push_back(paths_[static_cast<std::size_t>(at)].token);
      std::ranges::reverse(record.tokens);
      top.records.push_back(std::move(record));
    }
    const bool full = std::ssize(found_) == options_.top;
    const double worst = full ? found_.back().log_probability : -std::numeric_limits<double>::infinity();
    top.bound = worst;
    for (const Open& open : open_) top.bound = std::max(top.bound, open.log_probability);
    for (const Open& open : children_) top.bound = std::max(top.bound, open.log_probability);
    top.proven =
        std::ranges::count_if(found_, [&](const Found& found) { return found.log_probability >= top.bound; });
    return top;
  }

  const ExactTopOptions& options_;
  const TokenPattern& pattern_;
  TokenScores& scores_;
  std::vector<Open> children_;  // of what was read last
  std::vector<Open> open_;      // all others
  std::vector<PathNode> paths_;
  std::vector<Found> found_;  // a heap
  std::int64_t read_ = 0;
  std::int64_t needed_ = 0;  // states, when some were last forgotten
};

}  // namespace

ExactTop exact_top(TokenScores& scores, const TokenPattern& pattern, const ExactTopOptions& options) {
  UNDERTEXT_CHECK(options.top > 0 && options.batch > 0 && options.most_read > 0);
  return Search(scores, pattern, options).run();
}

}  // namespace undertext
