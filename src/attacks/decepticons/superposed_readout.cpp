#include "attacks/decepticons/superposed_readout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/superposed_rows.h"
#include "attacks/decepticons/superposed_state.h"
#include "base/assignment.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kAmountFits = 5e-3;        // of an amount: how well weights and bias agree on it
constexpr double kCodeFits = 0.03;          // of the codes' spread: how well an anchor has to fit
constexpr std::size_t kMostWays = 200'000;  // of giving the parts of a bin their anchors
constexpr double kLossFits = 3e-3;    // of the largest loss: how well a token has to fit the one before it
constexpr std::size_t kSupport = 16;  // of so many places one has to show as many tokens as sequences share
constexpr double kSure = 0.995, kPiece = 0.9, kAlone = 0.9, kLinked = 0.95, kByLoss = 0.6, kGuessed = 0.02;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

struct Found {
  std::int64_t token = -1;
  double loss = 0;  // 0: not its own
};

class Reading {
 public:
  Reading(const SuperposedState& state, const ObservedRows& observed)
      : state_(state), observed_(observed), parts_(take_apart(state, observed)) {
    std::vector<double> sizes;
    for (std::int64_t t = 0; t < state.tokens(); ++t) {
      double squares = 0;
      for (std::int64_t c = 0; c < state.code(); ++c) squares += state.codes()(t, c) * state.codes()(t, c);
      sizes.push_back(std::sqrt(squares));
    }
    spread_ = quantile(sizes, 0.5);
  }

  DecepticonRecovery run() {
    find_anchors();
    place();
    calibrate();
    DecepticonRecovery recovery;
    recovery.length = state_.length();
    for (const auto& [anchor, places] : groups_) read_group(anchor, places, recovery);
    return recovery;
  }

 private:
  bool amounts_agree(std::int64_t row, const std::vector<SuperposedPart>& parts,
                     const std::vector<std::int64_t>& anchors) const {
    double left = observed_.amounts[at(row)], whole = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double part = parts[i].amount * state_.deviation(parts[i].token, parts[i].place, anchors[i]);
      left -= part;
      whole = std::max(whole, std::abs(part));
    }
    return std::abs(left) < kAmountFits * whole * static_cast<double>(parts.size());
  }

  // Whether a token can stand at a place of a sequence with this anchor.
  bool allows(std::int64_t anchor, const SuperposedPart& part) const {
    const SuperposedState::Anchor& known = state_.anchors()[at(anchor)];
    return part.place != known.place || part.token == known.token;
  }

  // Bins of one part show its code alone, and so its sequence's anchor.
  void find_anchors() {
    std::map<std::int64_t, int> votes;
    Matrix<double> own = state_.codes();
    for (std::int64_t anchor = 0; anchor < own.rows; ++anchor) {
      const double sum = std::accumulate(own.row(anchor), own.row(anchor) + own.cols, 0.0);
      for (std::int64_t c = 0; c < own.cols; ++c) own(anchor, c) -= sum / static_cast<double>(state_.width());
    }
    std::vector<double> code(at(state_.code()));
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.size() != 1) continue;
      // What the code is, less what its own sum takes off every entry.
      for (std::size_t c = 0; c < code.size(); ++c)
        code[c] = observed_.rows(row, static_cast<std::int64_t>(c)) / parts[0].amount +
                  state_.bare_mean(parts[0].token, parts[0].place);
      std::int64_t best = -1;
      double least = kCodeFits * kCodeFits * spread_ * spread_;
      for (std::int64_t anchor = 0; anchor < own.rows; ++anchor) {
        double squares = 0;
        for (std::size_t c = 0; c < code.size(); ++c) {
          const double apart = code[c] - own(anchor, static_cast<std::int64_t>(c));
          squares += apart * apart;
        }
        if (squares < least && allows(anchor, parts[0])) {
          least = squares;
          best = anchor;
        }
      }
      if (best >= 0) ++votes[best];
    }
    for (const auto& [anchor, count] : votes)
      if (count > 1) anchors_.push_back(anchor);
  }

  // One way to give the parts of a bin their anchors; a part may be two sequences' at once.
  struct Way {
    std::vector<SuperposedPart> parts;
    std::vector<std::int64_t> anchors;
    double error = std::numeric_limits<double>::infinity();
  };

  // The anchors that each part of a bin may have, with what a unit of the part then brings to the code.
  struct Choice {
    std::int64_t anchor;
    std::vector<double> code;
  };
  std::vector<std::vector<Choice>> choices_of(std::int64_t row,
                                              const std::vector<SuperposedPart>& parts) const {
    std::vector<std::vector<Choice>> choices(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const std::int64_t anchor : anchors_) {
        const SuperposedPart& part = parts[i];
        if (!allows(anchor, part) || !state_.in_bin(row, part.token, part.place, anchor)) continue;
        Choice choice{anchor, {}};
        const double mean = state_.mean(part.token, part.place, anchor);
        for (std::int64_t c = 0; c < state_.code(); ++c)
          choice.code.push_back(state_.codes()(anchor, c) - mean);
        choices[i].push_back(std::move(choice));
      }
    }
    return choices;
  }

  // The best way in which every part is one sequence's or, where split >= 0, that part two sequences'.
  void try_ways(std::int64_t row, const std::vector<SuperposedPart>& parts,
                const std::vector<std::vector<Choice>>& choices, std::ptrdiff_t split, Way& best) const {
    std::vector<std::size_t> part_of(parts.size());
    std::iota(part_of.begin(), part_of.end(), std::size_t{0});
    if (split >= 0) part_of.push_back(static_cast<std::size_t>(split));
    std::size_t ways = 1;
    for (const std::size_t part : part_of) ways = std::min(ways * choices[part].size(), kMostWays + 1);
    if (ways == 0 || ways > kMostWays) return;
    const auto v = at(state_.code());
    std::vector<double> left(v);
    std::vector<std::size_t> index(part_of.size());
    for (std::size_t way = 0; way < ways; ++way) {
      std::size_t rest = way;
      for (std::size_t i = 0; i < part_of.size(); ++i) {
        index[i] = rest % choices[part_of[i]].size();
        rest /= choices[part_of[i]].size();
      }
      std::copy_n(observed_.rows.row(row), v, left.begin());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::vector<double>& code = choices[i][index[i]].code;
        for (std::size_t c = 0; c < v; ++c) left[c] -= parts[i].amount * code[c];
      }
      double moved = 0;  // from the part to its second owner
      if (split >= 0) {
        if (index.back() <= index[at(split)]) continue;  // the same two, the other way round
        const std::vector<double>&from = choices[at(split)][index[at(split)]].code,
              &to = choices[at(split)][index.back()].code;
        double along = 0, squares = 0;
        for (std::size_t c = 0; c < v; ++c) {
          along += left[c] * (to[c] - from[c]);
          squares += (to[c] - from[c]) * (to[c] - from[c]);
        }
        if (squares == 0) continue;
        moved = along / squares;
        for (std::size_t c = 0; c < v; ++c) left[c] -= moved * (to[c] - from[c]);
      }
      double squares = 0;
      for (const double value : left) squares += value * value;
      if (squares >= best.error * best.error) continue;
      Way candidate{parts, {}, std::sqrt(squares)};
      for (std::size_t i = 0; i < part_of.size(); ++i)
        candidate.anchors.push_back(choices[part_of[i]][index[i]].anchor);
      if (split >= 0) {
        candidate.parts[at(split)].amount -= moved;
        candidate.parts.push_back(parts[at(split)]);
        candidate.parts.back().amount = moved;
      }
      if (amounts_agree(row, candidate.parts, candidate.anchors)) best = std::move(candidate);
    }
  }

  void place() {
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.empty()) continue;
      const std::vector<std::vector<Choice>> choices = choices_of(row, parts);
      double largest = 0;
      for (const SuperposedPart& part : parts) largest = std::max(largest, std::abs(part.amount));
      Way best;
      best.error = kCodeFits * spread_ * largest * static_cast<double>(parts.size());
      try_ways(row, parts, choices, -1, best);
      if (best.anchors.empty()) {
        best.error /= 2;
        for (std::size_t split = 0; split < parts.size(); ++split)
          try_ways(row, parts, choices, static_cast<std::ptrdiff_t>(split), best);
      }
      for (std::size_t i = 0; i < best.anchors.size(); ++i) {
        const SuperposedPart& part = best.parts[i];
        const double divisor = state_.deviation(part.token, part.place, best.anchors[i]);
        groups_[best.anchors[i]][part.place].push_back({part.token, part.amount * divisor});
      }
    }
  }

  using Places = std::map<std::int64_t, std::vector<Found>>;

  // Sequences with the same anchor: as many as tokens stand at several of their places.
  std::int64_t sequences_in(const Places& places) const {
    std::vector<std::size_t> counts;
    for (const auto& [place, found] : places) counts.push_back(found.size());
    const std::size_t support = std::max<std::size_t>(2, at(state_.length()) / kSupport);
    if (counts.size() < support) return 1;
    std::ranges::sort(counts, std::greater());
    return static_cast<std::int64_t>(std::max<std::size_t>(1, counts[support - 1]));
  }

  SuperposedState::Losses losses_at(std::int64_t token, std::int64_t place, std::int64_t anchor) const {
    return {state_, state_.input(token, place, anchor)};
  }

  // The unit of losses, from sequences whose anchor is theirs alone.
  void calibrate() {
    std::vector<double> ratios;
    for (const auto& [anchor, places] : groups_) {
      if (sequences_in(places) > 1) continue;
      for (const auto& [place, found] : places) {
        const auto next = places.find(place + 1);
        if (next == places.end()) continue;
        const double loss = losses_at(found[0].token, place, anchor).of(next->second[0].token);
        ratios.push_back(found[0].loss / loss);
        largest_ = std::max(largest_, std::abs(loss));
      }
    }
    factor_ = quantile(ratios, 0.5);
  }

  // How badly a token fits as the next one after another, in units of the largest loss.
  double misfit(const Found& before, std::int64_t place, std::int64_t anchor, std::int64_t next) const {
    return std::abs(before.loss / factor_ - losses_at(before.token, place, anchor).of(next)) / largest_;
  }

  // From place to place the tokens that are there go to the sequences whose last one they fit.
  void read_group(std::int64_t anchor, const Places& places, DecepticonRecovery& recovery) {
    const std::int64_t count = sequences_in(places), length = state_.length();
    std::vector<std::vector<Found>> sequences(at(count), std::vector<Found>(at(length)));
    std::vector<std::vector<double>> confidence(at(count), std::vector<double>(at(length), kGuessed));
    const SuperposedState::Anchor& own = state_.anchors()[at(anchor)];
    // Whether a sequence's tokens so far are linked one to the next. Which of them comes first is nobody's
    // choice: until they part they are the same.
    std::vector<char> whole(at(count), 1);
    for (std::int64_t place = 0; place < length; ++place) {
      const auto here = places.find(place);
      if (place == own.place) {
        // Here all of them have the same row: its size is one's own only where there is one.
        const double loss = count == 1 && here != places.end() ? here->second[0].loss : 0;
        for (std::int64_t s = 0; s < count; ++s) {
          sequences[at(s)][at(place)] = {own.token, loss};
          confidence[at(s)][at(place)] = kSure;
        }
        continue;
      }
      if (here != places.end()) link(anchor, place, here->second, sequences, confidence, whole);
      for (std::int64_t s = 0; s < count; ++s)
        if (place > 0 && sequences[at(s)][at(place)].token < 0)
          fill(anchor, place, sequences[at(s)], confidence[at(s)]);
      // One sequence alone goes on over what is not known; only what contradicts it breaks it off.
      if (count == 1 || place > (own.place == 0 ? 1 : 0))
        for (std::int64_t s = 0; s < count; ++s)
          if (confidence[at(s)][at(place)] < (count == 1 && here != places.end() ? kAlone : kSure))
            whole[at(s)] &= count == 1 && here == places.end();
    }
    for (std::int64_t s = 0; s < count; ++s) {
      RecoveredSequence sequence;
      for (std::int64_t p = 0; p < length; ++p) {
        const Found& found = sequences[at(s)][at(p)];
        sequence.ids.push_back(found.token < 0 ? state_.ids().front() : state_.ids()[at(found.token)]);
        // Pieces of a sequence that shares its anchor are sure, but not which of them belong together.
        const bool sure = confidence[at(s)][at(p)] >= kSure && (count == 1 || whole[at(s)]);
        sequence.confidence.push_back(sure ? kSure : std::min(confidence[at(s)][at(p)], kPiece));
        sequence.certified.push_back(sure);
      }
      recovery.sequences.push_back(std::move(sequence));
    }
  }

  void link(std::int64_t anchor, std::int64_t place, const std::vector<Found>& found,
            std::vector<std::vector<Found>>& sequences, std::vector<std::vector<double>>& confidence,
            const std::vector<char>& whole) const {
    const auto rows = static_cast<std::int64_t>(sequences.size()),
               columns = static_cast<std::int64_t>(found.size());
    std::vector<double> costs;
    for (const std::vector<Found>& sequence : sequences) {
      const Found before = place > 0 ? sequence[at(place - 1)] : Found{};
      for (const Found& token : found) {
        // What nothing is known of is dearer than what fits, and cheaper than what does not.
        const bool known = before.loss != 0 && factor_ != 0;
        costs.push_back(known ? std::min(misfit(before, place - 1, anchor, token.token), 2 * kLossFits)
                              : kLossFits);
      }
    }
    const std::vector<std::int64_t> column = solve_assignment(costs, rows, columns);
    for (std::int64_t s = 0; s < rows; ++s) {
      const std::int64_t c = column[at(s)];
      if (c < 0) continue;
      const double cost = costs[at(s * columns + c)];
      if (rows > 1 && cost > kLossFits) continue;
      double next = std::numeric_limits<double>::infinity();  // of the other tokens
      for (std::int64_t other = 0; other < columns; ++other)
        if (found[at(other)].token != found[at(c)].token)
          next = std::min(next, costs[at(s * columns + other)]);
      sequences[at(s)][at(place)] = found[at(c)];
      confidence[at(s)][at(place)] = cost < kLossFits / 2 && next > kLossFits && whole[at(s)] ? kSure
                                     : rows == 1 && cost <= kLossFits                         ? kAlone
                                                                      : kLinked / static_cast<double>(rows);
    }
  }

  // No row shows what stands here; the one before says which loss it brought.
  void fill(std::int64_t anchor, std::int64_t place, std::vector<Found>& sequence,
            std::vector<double>& confidence) const {
    const Found& before = sequence[at(place - 1)];
    if (before.loss == 0 || factor_ == 0) return;
    const SuperposedState::Losses losses = losses_at(before.token, place - 1, anchor);
    double least = std::numeric_limits<double>::infinity(), next = least;
    std::int64_t best = -1;
    for (std::int64_t token = 0; token < state_.tokens(); ++token) {
      const double distance = std::abs(before.loss / factor_ - losses.of(token)) / largest_;
      if (distance < least) {
        next = least;
        least = distance;
        best = token;
      } else {
        next = std::min(next, distance);
      }
    }
    sequence[at(place)] = {best, 0};
    confidence[at(place)] = kByLoss * next / (next + least);
  }

  const SuperposedState& state_;
  const ObservedRows& observed_;
  std::vector<std::vector<SuperposedPart>> parts_;  // by bin
  double spread_ = 0;                               // of codes
  std::vector<std::int64_t> anchors_;               // that sequences have
  std::map<std::int64_t, Places> groups_;           // by anchor
  double factor_ = 0, largest_ = 0;                 // of losses
};

}  // namespace

DecepticonRecovery read_superposed(const Observation& observation, const Transformer& model,
                                   const DecepticonKey& key, std::vector<Token> ids, std::int64_t length) {
  const SuperposedState state(model, key, std::move(ids), length);
  const ObservedRows rows = observed_rows(observation, model, model.config().layers);
  return Reading(state, rows).run();
}

}  // namespace undertext
