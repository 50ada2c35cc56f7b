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
constexpr double kCodeFits = 0.05;         // of the codes' spread: how well a beginning has to fit
constexpr std::size_t kMostWays = 20'000;  // of giving the parts of a bin their beginnings
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
    find_beginnings();
    place();
    calibrate();
    DecepticonRecovery recovery;
    recovery.length = state_.length();
    for (const auto& [first, places] : groups_) read_group(first, places, recovery);
    return recovery;
  }

 private:
  // What the codes of a bin's parts add up to, beside what their means take away.
  double code_error(std::int64_t row, const std::vector<SuperposedPart>& parts,
                    const std::vector<std::int64_t>& firsts) const {
    double squares = 0;
    for (std::int64_t c = 0; c < state_.code(); ++c) {
      double left = observed_.rows(row, c);
      for (std::size_t i = 0; i < parts.size(); ++i)
        left -= parts[i].amount *
                (state_.codes()(firsts[i], c) - state_.mean(parts[i].token, parts[i].place, firsts[i]));
      squares += left * left;
    }
    return std::sqrt(squares);
  }

  bool amounts_agree(std::int64_t row, const std::vector<SuperposedPart>& parts,
                     const std::vector<std::int64_t>& firsts) const {
    double left = observed_.amounts[at(row)], whole = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double part = parts[i].amount * state_.deviation(parts[i].token, parts[i].place, firsts[i]);
      left -= part;
      whole = std::max(whole, std::abs(part));
    }
    return std::abs(left) < kAmountFits * whole * static_cast<double>(parts.size());
  }

  // Bins of one part show its code alone, and so the token that its sequence begins with.
  void find_beginnings() {
    std::map<std::int64_t, int> votes;
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.size() != 1) continue;
      if (parts[0].place == 0) {
        votes[parts[0].token] += 2;
        continue;
      }
      const double allowed = kCodeFits * spread_ * std::abs(parts[0].amount);
      std::int64_t best = -1;
      double least = allowed;
      for (std::int64_t first = 0; first < state_.tokens(); ++first) {
        const double error = code_error(row, parts, {first});
        if (error < least) {
          least = error;
          best = first;
        }
      }
      if (best >= 0) ++votes[best];
    }
    for (const auto& [first, count] : votes)
      if (count > 1) firsts_.push_back(first);
  }

  void place() {
    for (std::int64_t row = 0; row < observed_.count(); ++row) {
      const std::vector<SuperposedPart>& parts = parts_[at(row)];
      if (parts.empty()) continue;
      std::vector<std::vector<std::int64_t>> choices(parts.size());
      std::size_t ways = 1;
      double largest = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].place == 0) {
          choices[i].push_back(parts[i].token);
        } else {
          for (const std::int64_t first : firsts_)
            if (state_.in_bin(row, parts[i].token, parts[i].place, first)) choices[i].push_back(first);
        }
        ways = std::min(ways * choices[i].size(), kMostWays + 1);
        largest = std::max(largest, std::abs(parts[i].amount));
      }
      if (ways == 0 || ways > kMostWays) continue;
      std::vector<std::int64_t> firsts(parts.size()), best_firsts;
      double least = kCodeFits * spread_ * largest * static_cast<double>(parts.size());
      for (std::size_t way = 0; way < ways; ++way) {
        std::size_t rest = way;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          firsts[i] = choices[i][rest % choices[i].size()];
          rest /= choices[i].size();
        }
        const double error = code_error(row, parts, firsts);
        if (error >= least || !amounts_agree(row, parts, firsts)) continue;
        least = error;
        best_firsts = firsts;
      }
      for (std::size_t i = 0; i < best_firsts.size(); ++i) {
        const double divisor = state_.deviation(parts[i].token, parts[i].place, best_firsts[i]);
        groups_[best_firsts[i]][parts[i].place].push_back({parts[i].token, parts[i].amount * divisor});
      }
    }
  }

  using Places = std::map<std::int64_t, std::vector<Found>>;

  // Sequences that begin alike: as many as tokens stand at their fullest place.
  static std::int64_t sequences_in(const Places& places) {
    std::size_t most = 1;
    for (const auto& [place, found] : places)
      if (place > 0) most = std::max(most, found.size());
    return static_cast<std::int64_t>(most);
  }

  SuperposedState::Losses losses_at(std::int64_t token, std::int64_t place, std::int64_t first) const {
    return {state_, state_.input(token, place, first)};
  }

  // The unit of losses, from sequences whose beginning is theirs alone.
  void calibrate() {
    std::vector<double> ratios;
    for (const auto& [first, places] : groups_) {
      if (sequences_in(places) > 1) continue;
      for (const auto& [place, found] : places) {
        const auto next = places.find(place + 1);
        if (next == places.end()) continue;
        const double loss = losses_at(found[0].token, place, first).of(next->second[0].token);
        ratios.push_back(found[0].loss / loss);
        largest_ = std::max(largest_, std::abs(loss));
      }
    }
    factor_ = quantile(ratios, 0.5);
  }

  // How badly a token fits as the next one after another, in units of the largest loss.
  double misfit(const Found& before, std::int64_t place, std::int64_t first, std::int64_t next) const {
    return std::abs(before.loss / factor_ - losses_at(before.token, place, first).of(next)) / largest_;
  }

  // From place to place the tokens that are there go to the sequences whose last one they fit.
  void read_group(std::int64_t first, const Places& places, DecepticonRecovery& recovery) {
    const std::int64_t count = sequences_in(places), length = state_.length();
    std::vector<std::vector<Found>> sequences(at(count), std::vector<Found>(at(length)));
    std::vector<std::vector<double>> confidence(at(count), std::vector<double>(at(length), kGuessed));
    for (std::int64_t s = 0; s < count; ++s) {
      sequences[at(s)][0] = {first, 0};
      confidence[at(s)][0] = kSure;
    }
    if (count == 1 && places.contains(0)) sequences[0][0].loss = places.at(0)[0].loss;
    for (std::int64_t place = 1; place < length; ++place) {
      const auto here = places.find(place);
      if (here != places.end()) link(first, place, here->second, sequences, confidence);
      for (std::int64_t s = 0; s < count; ++s)
        if (sequences[at(s)][at(place)].token < 0) fill(first, place, sequences[at(s)], confidence[at(s)]);
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

  void link(std::int64_t first, std::int64_t place, const std::vector<Found>& found,
            std::vector<std::vector<Found>>& sequences, std::vector<std::vector<double>>& confidence) const {
    const auto rows = static_cast<std::int64_t>(sequences.size()),
               columns = static_cast<std::int64_t>(found.size());
    std::vector<double> costs;
    for (const std::vector<Found>& sequence : sequences) {
      const Found& before = sequence[at(place - 1)];
      for (const Found& token : found) {
        // What nothing is known of is dearer than what fits, and cheaper than what does not.
        const bool known = before.loss != 0 && factor_ != 0;
        costs.push_back(known ? std::min(misfit(before, place - 1, first, token.token), 2 * kLossFits)
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
  void fill(std::int64_t first, std::int64_t place, std::vector<Found>& sequence,
            std::vector<double>& confidence) const {
    const Found& before = sequence[at(place - 1)];
    if (before.loss == 0 || factor_ == 0) return;
    const SuperposedState::Losses losses = losses_at(before.token, place - 1, first);
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
  std::vector<std::int64_t> firsts_;                // tokens that sequences begin with
  std::map<std::int64_t, Places> groups_;           // by the token that they begin with
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
