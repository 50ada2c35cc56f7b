#include "attacks/sighting.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "attacks/last_words.h"
#include "base/blas.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr float kOnce = .12f;   // how near to one the count of a word typed once is
constexpr double kNear = .2;    // distance of vectors that are one, hidden vectors being 2.3 long
constexpr double kClear = 1.5;  // times the distance of the best: the second best is further
constexpr std::size_t kBeam = 2500;
constexpr std::size_t kChildren = 100;
constexpr float kMostEvidence = 8, kLeastEvidence = -5;  // log-likelihood ratios
constexpr float kLeastSpread = .1f;
constexpr double kStaying = .92;  // of the sentences that reach a depth, how many go on
constexpr int kQuietDepths = 2;
constexpr int kDeepest = 40;
constexpr std::size_t kSeconds = 10;  // words that are tried as the last but one
constexpr float kLeastSecond = -5, kLeastBefore = -7, kLeastLog = -12;
constexpr std::int64_t kProbes = 15000, kLeastProbes = 60, kMostProbes = 300;  // in all, and for one word

struct Entry {
  std::int32_t parent;  // index in the level above
  Token word;
  float score;  // roughly the log-probability that this prefix was typed
};

struct Probe {
  float score;
  std::int32_t from;  // index in the level
  Token word;
};

// For one word typed once: its vector and what is known of the context that has it.
struct Target {
  Token word = 0;
  std::int32_t last = 0;  // index of the last word of its context
  double best = 1e9, second = 1e9;
  Sentence at;  // the context with the best distance
};

// A guess at the last but one word of a target's context.
struct Second {
  std::int32_t target, word;
  float score;
};

template <typename T>
void keep_best(std::vector<T>& list, std::size_t count) {
  if (list.size() <= count) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end(),
                   [](const T& a, const T& b) {
                     if (a.score != b.score) return a.score > b.score;
                     if constexpr (std::is_same_v<T, Entry>)
                       return std::pair(a.parent, a.word) < std::pair(b.parent, b.word);
                     else
                       return std::pair(a.from, a.word) < std::pair(b.from, b.word);
                   });
  list.resize(count);
}

// Log-likelihoods into log-probabilities, bounded below.
void normalise(Matrix<float>& scores) {
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    float* row = scores.row(i);
    const float top = *std::max_element(row, row + scores.cols);
    double sum = 0;
    for (std::int64_t k = 0; k < scores.cols; ++k) sum += std::exp(static_cast<double>(row[k] - top));
    const float all = top + static_cast<float>(std::log(sum));
    for (std::int64_t k = 0; k < scores.cols; ++k) row[k] = std::max(kLeastLog, row[k] - all);
  }
}

// Scores become log-probabilities that add up to `expected` prefixes, none above certainty.
void calibrate(std::vector<Entry>& level, double expected) {
  double low = -100, high = 100;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const Entry& entry : level)
      sum += std::min(1.0, std::exp(static_cast<double>(entry.score) - middle));
    (sum > expected ? low : high) = middle;
  }
  for (Entry& entry : level) entry.score = std::min(0.0f, entry.score - static_cast<float>(low));
}

class Search {
 public:
  Search(ContextTable& table, const SightingInputs& inputs);
  std::vector<NodeId> run();

 private:
  using Children = std::map<std::pair<std::int32_t, Token>, std::vector<std::int32_t>>;  // with their targets

  static Children children_of(const std::vector<std::vector<Probe>>& chosen);  // chosen: by target
  StateId extend(const Children& children,
                 StateId first);  // the state of the first; `first` is that of parent 0

  void make_targets();
  std::vector<Entry>& level() { return levels_.back(); }
  std::int32_t last_word(std::size_t entry) const;  // index among the words, or that of <S>
  Sentence path(std::size_t entry) const;
  void read();
  void compare_level();
  bool compare(std::int32_t target, const float* h, const std::function<Sentence()>& context);
  void found(std::int32_t target, std::size_t entry, std::span<const Token> suffix);
  void weigh_edges();
  void probe_one_word_on();
  void probe_two_words_on();
  void go_deeper();

  ContextTable& table_;
  SearchTree& tree_;
  const SightingInputs& in_;
  std::int64_t d_;                   // width of a row
  std::vector<Token> words_;         // that contexts may consist of
  std::vector<std::int32_t> index_;  // word -> index in words_
  Matrix<float> bag_rows_;
  std::vector<Target> targets_;
  Matrix<float> target_rows_;
  std::vector<double> target_norms_;
  Matrix<float> before_;  // log P(last but one | target): (targets, words + 1)
  std::vector<Second> seconds_;
  Matrix<float> before_that_;  // log P(the word before | second): (seconds, words + 1)
  std::size_t probes_ = 0;     // for each target

  std::vector<std::vector<Entry>> levels_;
  std::unique_ptr<PrefixReader> reader_;
  Matrix<float> h_, plain_;  // h~ of the level, scaled and as it is
  Matrix<float> log_p_;      // (level, words)
  std::vector<Entry> next_;
  std::map<std::int32_t, std::set<NodeId>> sure_;   // by depth
  std::unordered_map<NodeId, std::int32_t> place_;  // of sure nodes in their level
  bool news_ = false;                               // whether this level has led to a target
};

Search::Search(ContextTable& table, const SightingInputs& inputs)
    : table_(table),
      tree_(table.tree()),
      in_(inputs),
      d_(inputs.rows.cols),
      index_(static_cast<std::size_t>(table.layer().words()), -1),
      reader_(tree_.fresh_reader()) {
  std::set<Token> words(in_.bag.begin(), in_.bag.end());
  for (NodeId node : in_.known) {
    words.insert(tree_.word(node));
    sure_[tree_.depth(node)].insert(node);
  }
  words.erase(tree_.word(0));
  words_.assign(words.begin(), words.end());
  for (std::size_t i = 0; i < words_.size(); ++i) index_[words_[i]] = static_cast<std::int32_t>(i);
  const RowSketch& sketch = table_.sketch();
  bag_rows_ = Matrix<float>(static_cast<std::int64_t>(in_.bag.size()), d_);
  for (std::size_t i = 0; i < in_.bag.size(); ++i) {
    const float* row = in_.rows.row(sketch.row(in_.bag[i]));
    std::copy_n(row, d_, bag_rows_.row(static_cast<std::int64_t>(i)));
    if (std::abs(row[d_ - 1] - 1) < kOnce) targets_.emplace_back().word = in_.bag[i];
  }
  if (!targets_.empty()) make_targets();
}

void Search::make_targets() {
  const std::int64_t n = static_cast<std::int64_t>(targets_.size()), width = d_ - 1;
  const std::int64_t words = static_cast<std::int64_t>(words_.size());
  target_rows_ = Matrix<float>(n, d_);
  Matrix<float> plain(n, width);
  for (std::int64_t t = 0; t < n; ++t) {
    std::copy_n(in_.rows.row(table_.sketch().row(targets_[t].word)), d_, target_rows_.row(t));
    double norm = 0;
    for (std::int64_t j = 0; j < d_; ++j)
      norm += static_cast<double>(target_rows_(t, j)) * target_rows_(t, j);
    target_norms_.push_back(norm);
    for (std::int64_t j = 0; j < width; ++j) plain(t, j) = target_rows_(t, j) / table_.scale();
  }
  const LastWords last_words(tree_.fresh_reader(), table_.layer(), tree_.word(0), words_,
                             Seed(1).derive("last words"));
  const Matrix<float> last = last_words.scores(plain);
  std::vector<std::vector<std::int32_t>> after(1);
  for (std::int64_t t = 0; t < n; ++t) {
    targets_[t].last =
        static_cast<std::int32_t>(std::max_element(last.row(t), last.row(t) + words) - last.row(t));
    after[0].push_back(targets_[t].last);
  }
  before_ = last_words.scores(plain, after);
  normalise(before_);

  for (std::int64_t t = 0; t < n; ++t) {
    std::vector<Probe> guesses;
    for (std::int64_t k = 0; k < words; ++k)
      if (before_(t, k) > kLeastSecond) guesses.push_back({before_(t, k), static_cast<std::int32_t>(k), 0});
    keep_best(guesses, kSeconds);
    for (const Probe& guess : guesses)
      seconds_.push_back({static_cast<std::int32_t>(t), guess.from, guess.score});
  }
  Matrix<float> again(static_cast<std::int64_t>(seconds_.size()), width);
  after = std::vector<std::vector<std::int32_t>>(2);
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    std::copy_n(plain.row(seconds_[i].target), width, again.row(static_cast<std::int64_t>(i)));
    after[0].push_back(targets_[seconds_[i].target].last);
    after[1].push_back(seconds_[i].word);
  }
  before_that_ = last_words.scores(again, after);
  normalise(before_that_);
  probes_ = static_cast<std::size_t>(std::clamp(kProbes / n, kLeastProbes, kMostProbes));
}

std::int32_t Search::last_word(std::size_t entry) const {
  return levels_.size() == 1 ? static_cast<std::int32_t>(words_.size()) : index_[levels_.back()[entry].word];
}

Sentence Search::path(std::size_t entry) const {
  Sentence words;
  for (std::size_t depth = levels_.size() - 1; depth > 0; --depth) {
    words.push_back(levels_[depth][entry].word);
    entry = static_cast<std::size_t>(levels_[depth][entry].parent);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

// Reads the level's prefixes and forgets those above it.
void Search::read() {
  const std::int64_t n = static_cast<std::int64_t>(level().size()), width = d_ - 1;
  std::vector<StateId> states;
  std::vector<Token> tokens;
  for (const Entry& entry : level()) {
    states.push_back(entry.parent);
    tokens.push_back(entry.word);
  }
  const StateId first = reader_->extend(states, tokens);
  for (std::int64_t i = 0; i < n; ++i) states[i] = first + static_cast<StateId>(i);
  reader_->keep(states);
  h_ = Matrix<float>(n, d_, 1.0f);
  plain_ = h_;
  for (std::int64_t i = 0; i < n; ++i) {
    const float* h = reader_->hidden(static_cast<StateId>(i));
    for (std::int64_t j = 0; j < width; ++j) {
      plain_(i, j) = h[j];
      h_(i, j) = table_.scale() * h[j];
    }
  }
  log_p_ = Matrix<float>(n, static_cast<std::int64_t>(words_.size()));
  table_.layer().softmax(plain_, [&](std::int64_t i, const float* p) {
    for (std::size_t k = 0; k < words_.size(); ++k)
      log_p_(i, static_cast<std::int64_t>(k)) = std::log(std::max(p[words_[k]], 1e-9f));
  });
}

// Notes how near a context is to a target; true when it has the target's vector.
bool Search::compare(std::int32_t target, const float* h, const std::function<Sentence()>& context) {
  const float* row = target_rows_.row(target);
  double sum = (1 - static_cast<double>(row[d_ - 1])) * (1 - static_cast<double>(row[d_ - 1]));
  for (std::int64_t j = 0; j + 1 < d_; ++j) {
    const double difference = static_cast<double>(table_.scale() * h[j] - row[j]);
    sum += difference * difference;
  }
  const double distance = std::sqrt(sum);
  if (distance > kNear * 2 * kClear) return false;
  Target& t = targets_[target];
  Sentence words = context();
  if (words == t.at && t.best < 1e9) return distance < kNear;
  if (distance < t.best) {
    t.second = t.best;
    t.best = distance;
    t.at = std::move(words);
  } else {
    t.second = std::min(t.second, distance);
  }
  return distance < kNear;
}

// The context made of an entry and a suffix has a target's vector: it goes into the levels to come.
void Search::found(std::int32_t target, std::size_t entry, std::span<const Token> suffix) {
  news_ = true;
  NodeId node = tree_.insert(path(entry));
  place_[node] = static_cast<std::int32_t>(entry);
  for (Token word : suffix) {
    node = tree_.child(node, word);
    sure_[tree_.depth(node)].insert(node);
  }
  node = tree_.child(node, targets_[target].word);
  sure_[tree_.depth(node)].insert(node);
}

void Search::compare_level() {
  const std::int64_t n = h_.rows, count = target_rows_.rows;
  Matrix<float> products(n, count);
  multiply(h_, Transpose::no, target_rows_, Transpose::yes, products);
  for (std::int64_t i = 0; i < n; ++i) {
    double norm = 0;
    for (std::int64_t j = 0; j < d_; ++j) norm += static_cast<double>(h_(i, j)) * h_(i, j);
    for (std::int64_t t = 0; t < count; ++t) {
      const double squared = norm + target_norms_[t] - 2 * static_cast<double>(products(i, t));
      if (squared < 4 * kClear * kClear * kNear * kNear &&
          compare(static_cast<std::int32_t>(t), plain_.row(i),
                  [&] { return path(static_cast<std::size_t>(i)); }))
        found(static_cast<std::int32_t>(t), static_cast<std::size_t>(i), {});
    }
  }
}

// The likeliest next words of all contexts: by the model's own prediction, and by how far the word's row
// speaks for this context, measured against how far it speaks for contexts at large.
void Search::weigh_edges() {
  const std::int64_t n = h_.rows, words = bag_rows_.rows;
  Matrix<float> filtered(n, d_), share(n, words);
  multiply(h_, Transpose::no, in_.filter, Transpose::no, filtered);
  multiply(filtered, Transpose::no, bag_rows_, Transpose::yes, share);
  parallel_for(n, [&](std::int64_t i) {
    double own = 0;
    for (std::int64_t j = 0; j < d_; ++j) own += static_cast<double>(filtered(i, j)) * h_(i, j);
    for (std::int64_t k = 0; k < words; ++k) share(i, k) /= static_cast<float>(own);
  });
  constexpr std::int64_t kFew = 20;  // contexts that tell no spread
  std::vector<float> spread(static_cast<std::size_t>(words));
  parallel_for(words, [&](std::int64_t k) {
    spread[k] = kLeastSpread * std::sqrt(std::max(1.0f, bag_rows_(k, d_ - 1)));
    if (n < kFew) return;
    std::vector<float> all(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) all[i] = share(i, k);
    const auto middle = all.begin() + n / 2;
    std::nth_element(all.begin(), middle, all.end());
    const float median = *middle;
    for (float& value : all) value = std::abs(value - median);
    std::nth_element(all.begin(), middle, all.end());
    spread[k] = std::max(kLeastSpread, 1.4826f * *middle);
  });
  std::vector<std::vector<Entry>> children(static_cast<std::size_t>(n));
  parallel_for(n, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < words; ++k) {
      const float ratio =
          std::min(kMostEvidence, (std::min(share(i, k), 1.2f) - .5f) / (spread[k] * spread[k]));
      if (ratio > kLeastEvidence)
        children[i].push_back({static_cast<std::int32_t>(i), in_.bag[k],
                               level()[i].score + ratio + log_p_(i, index_[in_.bag[k]])});
    }
    keep_best(children[i], kChildren);
  });
  next_.clear();
  for (const auto& list : children) next_.insert(next_.end(), list.begin(), list.end());
  keep_best(next_, kBeam);
}

Search::Children Search::children_of(const std::vector<std::vector<Probe>>& chosen) {
  Children children;
  for (std::size_t t = 0; t < chosen.size(); ++t)
    for (const Probe& probe : chosen[t])
      children[{probe.from, probe.word}].push_back(static_cast<std::int32_t>(t));
  return children;
}

StateId Search::extend(const Children& children, StateId first) {
  std::vector<StateId> states;
  std::vector<Token> tokens;
  for (const auto& [child, targets] : children) {
    states.push_back(first + child.first);
    tokens.push_back(child.second);
  }
  return reader_->extend(states, tokens);
}

// From each context by the last word of each target, the likeliest pairs first.
void Search::probe_one_word_on() {
  std::vector<std::vector<Probe>> chosen(targets_.size());
  parallel_for(static_cast<std::int64_t>(targets_.size()), [&](std::int64_t t) {
    if (targets_[t].best < kNear) return;
    for (std::size_t i = 0; i < level().size(); ++i) {
      const float before = before_(t, last_word(i));
      if (before > kLeastBefore)
        chosen[t].push_back(
            {level()[i].score + log_p_(static_cast<std::int64_t>(i), targets_[t].last) + before,
             static_cast<std::int32_t>(i), words_[targets_[t].last]});
    }
    keep_best(chosen[t], probes_);
  });
  const Children children = children_of(chosen);
  StateId state = extend(children, 0);
  for (const auto& [child, targets] : children) {
    const auto entry = static_cast<std::size_t>(child.first);
    const Token& word = child.second;
    const float* h = reader_->hidden(state++);
    for (std::int32_t t : targets)
      if (compare(t, h, [&] {
            Sentence words = path(entry);
            words.push_back(word);
            return words;
          }))
        found(t, entry, {&word, 1});
  }
}

// And by the last two, guessing the first of them.
void Search::probe_two_words_on() {
  std::vector<std::vector<Probe>> chosen(targets_.size());
  for (std::size_t s = 0; s < seconds_.size(); ++s) {
    const Second& second = seconds_[s];
    if (targets_[second.target].best < kNear) continue;
    for (std::size_t i = 0; i < level().size(); ++i)
      chosen[second.target].push_back({level()[i].score + log_p_(static_cast<std::int64_t>(i), second.word) +
                                           second.score +
                                           before_that_(static_cast<std::int64_t>(s), last_word(i)),
                                       static_cast<std::int32_t>(i), words_[second.word]});
    const bool last = s + 1 == seconds_.size() || seconds_[s + 1].target != second.target;
    if (last) keep_best(chosen[second.target], probes_);
  }
  const Children children = children_of(chosen);
  const StateId first = extend(children, 0);
  Children grandchildren;  // of the children, by their order
  std::vector<std::pair<std::int32_t, Token>> order;
  for (const auto& [child, targets] : children) {
    for (std::int32_t t : targets)
      grandchildren[{static_cast<std::int32_t>(order.size()), words_[targets_[t].last]}].push_back(t);
    order.push_back(child);
  }
  StateId state = extend(grandchildren, first);
  for (const auto& [grandchild, targets] : grandchildren) {
    const auto entry = static_cast<std::size_t>(order[grandchild.first].first);
    const Token suffix[] = {order[grandchild.first].second, grandchild.second};
    const float* h = reader_->hidden(state++);
    for (std::int32_t t : targets)
      if (compare(t, h, [&] {
            Sentence words = path(entry);
            words.insert(words.end(), std::begin(suffix), std::end(suffix));
            return words;
          }))
        found(t, entry, suffix);
  }
}

// The next level: the likeliest edges, and every sure one.
void Search::go_deeper() {
  std::vector<StateId> own(level().size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<StateId>(i);
  reader_->keep(own);
  const auto depth = static_cast<std::int32_t>(levels_.size());
  calibrate(next_, in_.sentences * std::pow(kStaying, depth));
  std::map<std::pair<std::int32_t, Token>, std::size_t> at;
  for (std::size_t i = 0; i < next_.size(); ++i) at[{next_[i].parent, next_[i].word}] = i;
  for (NodeId node : sure_[depth]) {
    const auto parent = place_.find(tree_.parent(node));
    if (parent == place_.end()) continue;
    const auto [place, fresh] = at.try_emplace({parent->second, tree_.word(node)}, next_.size());
    if (fresh) next_.push_back({parent->second, tree_.word(node), 0});
    next_[place->second].score = 0;
    place_[node] = static_cast<std::int32_t>(place->second);
  }
  levels_.push_back(std::move(next_));
}

std::vector<NodeId> Search::run() {
  std::vector<NodeId> proven;
  if (targets_.empty()) return proven;
  const std::int32_t known = sure_.empty() ? 0 : sure_.rbegin()->first;
  levels_ = {{{-1, tree_.word(0), 0}}};
  place_[0] = 0;
  int quiet = 0;
  for (int depth = 0; depth < kDeepest && quiet < kQuietDepths && !level().empty(); ++depth) {
    news_ = false;
    read();
    compare_level();
    weigh_edges();
    probe_one_word_on();
    probe_two_words_on();
    quiet = news_ || depth < known ? 0 : quiet + 1;
    go_deeper();
  }
  for (const Target& target : targets_)
    if (target.best < kNear && target.second > kClear * target.best)
      proven.push_back(tree_.child(tree_.insert(target.at), target.word));
  return proven;
}

}  // namespace

std::vector<NodeId> sight(ContextTable& table, const SightingInputs& inputs) {
  return Search(table, inputs).run();
}

}  // namespace undertext
