#include "attacks/decepticons/superposed_readout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/superposed_rows.h"
#include "attacks/decepticons/superposed_state.h"
#include "base/assignment.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kAmountFits = 5e-3;       // of an amount: how well weights and bias agree on it
constexpr double kCodeFits = 0.05;         // of the codes' spread: how well an anchor has to fit
constexpr std::size_t kMostWays = 20'000;  // of giving the parts of a bin their anchors
constexpr double kLossFits = 3e-3;  // of the largest loss: how well a token has to fit the one before it
constexpr double kSure = 0.99, kLinked = 0.95, kByLoss = 0.6, kGuessed = 0.02;

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
    if (getenv("DBG")) {
      size_t open = 0, dec = 0, single = 0, parts = 0;
      for (std::int64_t r = 0; r < observed_.count(); ++r) {
        double q = 0;
        for (std::int64_t j = 0; j < state_.width(); ++j) q += std::abs(observed_.rows(r, j));
        open += q > 0;
        dec += !parts_[at(r)].empty();
        single += parts_[at(r)].size() == 1;
        parts += parts_[at(r)].size();
      }
      size_t placed = 0;
      for (auto& [f, g] : groups_)
        for (auto& [p, v] : g) placed += v.size();
      fprintf(stderr, "rows open %zu decoded %zu single %zu parts %zu placed %zu anchors %zu groups %zu\n",
              open, dec, single, parts, placed, anchors_.size(), groups_.size());
      for (auto& [f, g] : groups_) {
        size_t n = 0;
        for (auto& [p, v] : g) n += v.size();
        fprintf(stderr, " anchor %d places %zu tokens %zu sequences %ld\n",
                state_.ids()[at(state_.anchors()[at(f)].token)], g.size(), n, sequences_in(g));
      }
      fprintf(stderr, "factor %g largest %g\n", factor_, largest_);
    }
    DecepticonRecovery recovery;
    recovery.length = state_.length();
    for (const auto& [anchor, places] : groups_) read_group(anchor, places, recovery);
    return recovery;
  }

 private:
  // What the codes of a bin's parts add up to, beside what their means take away.
  double code_error(std::int64_t row, const std::vector<SuperposedPart>& parts,
                    const std::vector<std::int64_t>& anchors) const {
    double squares = 0;
    for (std::int64_t c = 0; c < state_.code(); ++c) {
      double left = observed_.rows(row, c);
      for (std::size_t i = 0; i < parts.size(); ++i)
        left -= parts[i].amount *
                (state_.codes()(anchors[i], c) - state_.mean(parts[i].token, parts[i].place, anchors[i]));
      squares += left * left;
    }
    return std::sqrt(squares);
  }

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
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.size() != 1) continue;
      std::int64_t best = -1;
      double least = kCodeFits * spread_ * std::abs(parts[0].amount);
      for (std::int64_t anchor = 0; anchor < state_.codes().rows; ++anchor) {
        const double error = code_error(row, parts, {anchor});
        if (error < least && allows(anchor, parts[0])) {
          least = error;
          best = anchor;
        }
      }
      if (best >= 0) ++votes[best];
    }
    for (const auto& [anchor, count] : votes)
      if (count > 1) anchors_.push_back(anchor);
  }

  void place() {
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.empty()) continue;
      std::vector<std::vector<std::int64_t>> choices(parts.size());
      std::size_t ways = 1;
      double largest = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const std::int64_t anchor : anchors_)
          if (allows(anchor, parts[i]) && state_.in_bin(row, parts[i].token, parts[i].place, anchor))
            choices[i].push_back(anchor);
        ways = std::min(ways * choices[i].size(), kMostWays + 1);
        largest = std::max(largest, std::abs(parts[i].amount));
      }
      if (ways == 0 || ways > kMostWays) continue;
      std::vector<std::int64_t> anchors(parts.size()), best_anchors;
      double least = kCodeFits * spread_ * largest * static_cast<double>(parts.size());
      for (std::size_t way = 0; way < ways; ++way) {
        std::size_t rest = way;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          anchors[i] = choices[i][rest % choices[i].size()];
          rest /= choices[i].size();
        }
        const double error = code_error(row, parts, anchors);
        if (error >= least || !amounts_agree(row, parts, anchors)) continue;
        least = error;
        best_anchors = anchors;
      }
      for (std::size_t i = 0; i < best_anchors.size(); ++i) {
        const double divisor = state_.deviation(parts[i].token, parts[i].place, best_anchors[i]);
        groups_[best_anchors[i]][parts[i].place].push_back({parts[i].token, parts[i].amount * divisor});
      }
    }
  }

  using Places = std::map<std::int64_t, std::vector<Found>>;

  // Sequences with the same anchor: as many as tokens stand at their fullest place.
  static std::int64_t sequences_in(const Places& places) {
    std::size_t most = 1;
    for (const auto& [place, found] : places) most = std::max(most, found.size());
    return static_cast<std::int64_t>(most);
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
      if (here != places.end()) link(anchor, place, here->second, sequences, confidence);
      for (std::int64_t s = 0; s < count; ++s)
        if (place > 0 && sequences[at(s)][at(place)].token < 0)
          fill(anchor, place, sequences[at(s)], confidence[at(s)]);
    }
    for (std::int64_t s = 0; s < count; ++s) {
      RecoveredSequence sequence;
      for (std::int64_t p = 0; p < length; ++p) {
        const Found& found = sequences[at(s)][at(p)];
        sequence.ids.push_back(found.token < 0 ? state_.ids().front() : state_.ids()[at(found.token)]);
        sequence.confidence.push_back(confidence[at(s)][at(p)]);
        sequence.certified.push_back(confidence[at(s)][at(p)] >= kSure);
      }
      recovery.sequences.push_back(std::move(sequence));
    }
  }

  void link(std::int64_t anchor, std::int64_t place, const std::vector<Found>& found,
            std::vector<std::vector<Found>>& sequences, std::vector<std::vector<double>>& confidence) const {
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
      sequences[at(s)][at(place)] = found[at(c)];
      confidence[at(s)][at(place)] =
          rows == 1 || cost < kLossFits / 2 ? kSure : kLinked / static_cast<double>(rows);
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
