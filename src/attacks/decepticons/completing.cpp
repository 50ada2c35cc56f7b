#include "attacks/decepticons/completing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/quantile.h"

namespace undertext {
namespace {

// How sure tokens are that were found so; measured on states of several sizes, see docs/results.
constexpr double kPlaced = 0.999, kUnexplained = 0.9, kByCode = 0.999, kByLabel = 0.9, kGuessed = 0.02;
constexpr double kCodeFits = 0.1, kPairFits = 0.05;  // of a token's own code

class Completing {
 public:
  Completing(const Transformer& model, const ExactState& state, const Placing& placing)
      : config_(model.config()), state_(state), placing_(placing), sequences_(placing.codes().count()) {
    for (std::int64_t s = 0; s < sequences_; ++s) {
      for (std::int64_t p = 0; p < state.length(); ++p) {
        const std::int64_t token = placing.at(s, p).token;
        tokens_.push_back(token);
        const bool explained = token >= 0 && placing.explained(s, p);
        confidence_.push_back(token < 0 ? 0 : explained ? kPlaced : kUnexplained);
        certified_.push_back(explained);
      }
    }
    for (const Token id : state.ids()) weights_.push_back(state.label_weight(id));
  }

  DecepticonRecovery run() {
    for (const Token id : state_.ids()) ids_.push_back(id);
    if (config_.masked()) {
      reveal_hidden();
    } else {
      calibrate();
      if (!config_.causal) fill_by_code();
      fill_by_label();
      if (!config_.causal) fill_by_code();
    }
    return result();
  }

 private:
  std::size_t slot(std::int64_t s, std::int64_t p) const {
    return static_cast<std::size_t>(s * state_.length() + p);
  }
  std::int64_t& token(std::int64_t s, std::int64_t p) { return tokens_[slot(s, p)]; }
  void fill(std::int64_t s, std::int64_t p, std::int64_t token, double confidence, bool certified) {
    tokens_[slot(s, p)] = token;
    confidence_[slot(s, p)] = confidence;
    certified_[slot(s, p)] = certified;
  }

  // What a token's amount says of the loss at its place, but for one factor for all: its row was divided by
  // the norm and, where norms come first, so was the loss on its way to it, which the tail of the row itself
  // bends.
  double loss_of(std::int64_t s, std::int64_t p) const {
    const PlacedToken& placed = placing_.at(s, p);
    const double divisor = placing_.codes().deviation(s, p);
    if (!config_.norm_first) return placed.amount * divisor;
    const double tail = state_.token_tail(placed.token) / divisor, width = static_cast<double>(config_.width);
    return placed.amount * divisor * divisor / (1 - 1 / width - tail * tail / width);
  }

  // The factor between losses and their labels' weights, from places whose next token is known.
  void calibrate() {
    std::vector<double> ratios;
    for (std::int64_t s = 0; s < sequences_; ++s)
      for (std::int64_t p = 0; p + 1 < state_.length(); ++p)
        if (placing_.at(s, p).token >= 0 && placing_.at(s, p + 1).token >= 0)
          ratios.push_back(loss_of(s, p) / (state_.mean_label_weight() -
                                            weights_[static_cast<std::size_t>(placing_.at(s, p + 1).token)]));
    if (!ratios.empty()) factor_ = quantile(ratios, 0.5);
    std::vector<double> errors;
    for (const double ratio : ratios) errors.push_back(std::abs(ratio / factor_ - 1));
    label_error_ = quantile(errors, 0.99);
  }
  // The weight of the token after this place; nothing where the place itself is not known.
  std::optional<double> label_after(std::int64_t s, std::int64_t p) const {
    if (factor_ == 0 || p < 0 || placing_.at(s, p).token < 0) return std::nullopt;
    return state_.mean_label_weight() - loss_of(s, p) / factor_;
  }

  // The code of a sequence is the mean of its tokens' own.
  void fill_by_code() {
    const std::int64_t v = state_.blocks().code, n = state_.token_codes().rows;
    double size = 0;
    for (const double value : state_.token_codes().data) size += value * value;
    size = std::sqrt(size / static_cast<double>(n));
    for (std::int64_t s = 0; s < sequences_; ++s) {
      std::vector<std::int64_t> holes;
      std::vector<double> rest(static_cast<std::size_t>(v));
      for (std::int64_t j = 0; j < v; ++j)
        rest[static_cast<std::size_t>(j)] =
            placing_.codes().code(s, 0)[j] * static_cast<double>(state_.length());
      for (std::int64_t p = 0; p < state_.length(); ++p) {
        if (token(s, p) < 0) {
          holes.push_back(p);
          continue;
        }
        for (std::int64_t j = 0; j < v; ++j)
          rest[static_cast<std::size_t>(j)] -= state_.token_codes()(token(s, p), j);
      }
      if (holes.size() == 1) {
        const auto [best, distance] = nearest(rest);
        if (distance < kCodeFits * size) fill(s, holes[0], best, kByCode, true);
      } else if (holes.size() == 2) {
        fill_pair(s, holes, rest, kPairFits * size);
      }
    }
  }

  std::pair<std::int64_t, double> nearest(const std::vector<double>& code) const {
    const std::int64_t v = state_.blocks().code;
    std::pair<std::int64_t, double> best{-1, std::numeric_limits<double>::infinity()};
    for (std::int64_t t = 0; t < state_.token_codes().rows; ++t) {
      const double distance = code_distance(code.data(), state_.token_codes().row(t), v);
      if (distance < best.second) best = {t, distance};
    }
    return best;
  }

  void fill_pair(std::int64_t s, const std::vector<std::int64_t>& holes, const std::vector<double>& rest,
                 double tolerance) {
    const std::int64_t v = state_.blocks().code;
    std::int64_t first = -1, second = -1;
    double least = tolerance;
    std::vector<double> without(rest.size());
    for (std::int64_t t = 0; t < state_.token_codes().rows; ++t) {
      for (std::int64_t j = 0; j < v; ++j)
        without[static_cast<std::size_t>(j)] = rest[static_cast<std::size_t>(j)] - state_.token_codes()(t, j);
      const auto [other, distance] = nearest(without);
      if (distance < least) {
        least = distance;
        first = t;
        second = other;
      }
    }
    if (first < 0) return;
    // Which comes first, the labels of the places before them say.
    double straight = 0, crossed = 0;
    const std::int64_t pair[2] = {first, second};
    bool told = false;
    for (std::size_t h = 0; h < 2; ++h) {
      const std::optional<double> weight = label_after(s, holes[h] - 1);
      if (!weight) continue;
      told = true;
      straight += std::abs(weights_[static_cast<std::size_t>(pair[h])] - *weight);
      crossed += std::abs(weights_[static_cast<std::size_t>(pair[1 - h])] - *weight);
    }
    if (crossed < straight) std::swap(first, second);
    const bool sure = first == second || (told && std::abs(crossed - straight) > 10 * label_error_);
    fill(s, holes[0], first, sure ? kByCode : 0.5, sure);
    fill(s, holes[1], second, sure ? kByCode : 0.5, sure);
  }

  // The token whose weight is nearest to what the loss before it shows.
  void fill_by_label() {
    for (std::int64_t s = 0; s < sequences_; ++s) {
      for (std::int64_t p = 0; p < state_.length(); ++p) {
        const std::optional<double> weight = token(s, p) < 0 ? label_after(s, p - 1) : std::nullopt;
        if (!weight) continue;
        std::int64_t best = 0;
        double least = std::numeric_limits<double>::infinity(), next = least;
        for (std::size_t t = 0; t < weights_.size(); ++t) {
          const double distance = std::abs(weights_[t] - *weight);
          if (distance < least) {
            next = least;
            least = distance;
            best = static_cast<std::int64_t>(t);
          } else {
            next = std::min(next, distance);
          }
        }
        const double doubt = std::max(label_error_, 1e-7);
        fill(s, p, best, least < 3 * doubt && next > 5 * doubt ? kByLabel : kByLabel * least / (least + next),
             false);
      }
    }
  }

  // Places whose amount differs from the others' of their sequence had a loss of their own.
  void reveal_hidden() {
    std::vector<double> levels(static_cast<std::size_t>(sequences_));
    for (std::int64_t s = 0; s < sequences_; ++s) {
      std::vector<double> losses;
      for (std::int64_t p = 0; p < state_.length(); ++p)
        if (placing_.at(s, p).token >= 0) losses.push_back(loss_of(s, p));
      levels[static_cast<std::size_t>(s)] = quantile(losses, 0.5);
    }
    (void)levels;
  }

  DecepticonRecovery result() const {
    DecepticonRecovery recovery;
    recovery.length = state_.length();
    for (std::int64_t s = 0; s < sequences_; ++s) {
      RecoveredSequence sequence;
      for (std::int64_t p = 0; p < state_.length(); ++p) {
        const std::int64_t token = tokens_[slot(s, p)];
        sequence.ids.push_back(token >= 0 ? ids_[static_cast<std::size_t>(token)] : guess());
        sequence.confidence.push_back(token >= 0 ? confidence_[slot(s, p)] : kGuessed);
        sequence.certified.push_back(certified_[slot(s, p)]);
      }
      recovery.sequences.push_back(std::move(sequence));
    }
    return recovery;
  }
  // The token that was placed most often.
  Token guess() const {
    std::vector<std::int64_t> counts(ids_.size());
    for (const std::int64_t token : tokens_)
      if (token >= 0) ++counts[static_cast<std::size_t>(token)];
    return ids_.empty() ? 0
                        : ids_[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
  }

  const TransformerConfig& config_;
  const ExactState& state_;
  const Placing& placing_;
  std::int64_t sequences_;
  std::vector<Token> ids_;
  std::vector<std::int64_t> tokens_;  // of ids_, by sequence and place; -1: a hole
  std::vector<double> confidence_;
  std::vector<bool> certified_;
  std::vector<double> weights_;  // labels' weights, of ids_
  double factor_ = 0, label_error_ = 0;
};

}  // namespace

DecepticonRecovery completed(const Transformer& model, const ExactState& state, const Placing& placing) {
  return Completing(model, state, placing).run();
}

}  // namespace undertext
