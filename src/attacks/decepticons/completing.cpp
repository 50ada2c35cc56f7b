#include "attacks/decepticons/completing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/quantile.h"

namespace undertext {
namespace {

// How sure tokens are that were found so; measured on states of several sizes, see docs/results.
constexpr double kPlaced = 0.999, kUnexplained = 0.9, kDoubtful = 0.5, kByCode = 0.999, kByLabel = 0.9,
                 kGuessed = 0.02;
constexpr double kCodeFits = 0.1, kPairFits = 0.05;  // of a token's own code
constexpr double kOwnLoss = 2;  // of its share of the others': what a place with a loss of its own has

class Completing {
 public:
  Completing(const Transformer& model, const ExactState& state, const Placing& placing,
             const std::vector<std::int64_t>& label_counts)
      : config_(model.config()),
        state_(state),
        placing_(placing),
        label_counts_(label_counts),
        sequences_(placing.codes().count()) {
    for (std::int64_t s = 0; s < sequences_; ++s) {
      for (std::int64_t p = 0; p < state.length(); ++p) {
        const std::int64_t token = placing.at(s, p).token;
        tokens_.push_back(token);
        const bool explained = token >= 0 && placing.explained(s, p);
        confidence_.push_back(token < 0                   ? 0
                              : placing.at(s, p).doubtful ? kDoubtful
                              : explained                 ? kPlaced
                                                          : kUnexplained);
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
    certified_[slot(s, p)] = certified && placing_.nearly_exact();
  }

  // The loss before a place, whose label stands there.
  std::optional<double> loss_before(std::int64_t s, std::int64_t p) const {
    return p == 0 || !placing_.labels().calibrated() ? std::nullopt : placing_.loss_at(s, p - 1);
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
    const LabelChannel& labels = placing_.labels();
    double straight = 0, crossed = 0;
    const std::int64_t pair[2] = {first, second};
    bool told = false;
    for (std::size_t h = 0; h < 2; ++h) {
      const std::optional<double> loss = loss_before(s, holes[h]);
      if (!loss) continue;
      told = true;
      const double seen = labels.weight_of(*loss);
      straight += std::abs(labels.weight(pair[h]) - seen);
      crossed += std::abs(labels.weight(pair[1 - h]) - seen);
    }
    if (crossed < straight) std::swap(first, second);
    const bool sure = first == second || (told && std::abs(crossed - straight) > 10 * labels.error());
    fill(s, holes[0], first, sure ? kByCode : 0.5, sure);
    fill(s, holes[1], second, sure ? kByCode : 0.5, sure);
  }

  void fill_by_label() {
    for (std::int64_t s = 0; s < sequences_; ++s) {
      for (std::int64_t p = 1; p < state_.length(); ++p) {
        const std::optional<double> loss = token(s, p) < 0 ? loss_before(s, p) : std::nullopt;
        if (!loss) continue;
        const LabelChannel::Reading label = placing_.labels().read(*loss);
        const double doubt = placing_.labels().error() * std::abs(placing_.labels().weight(label.token));
        const bool sure = label.distance < 10 * doubt && label.next > 50 * doubt;
        const double share = label.next / (label.distance + label.next);
        fill(s, p, label.token, sure ? kByCode : kByLabel * share, sure);
      }
    }
  }

  // Every place of a masked model's sequence has its share of the sequence's losses; those with a loss of
  // their own have that on top. Its label is the one whose weight it shows.
  void reveal_hidden() {
    struct Predicted {
      std::int64_t sequence, position;
      double loss;  // its own
    };
    std::vector<Predicted> predicted;
    for (std::int64_t s = 0; s < sequences_; ++s) {
      std::vector<double> sizes;
      for (std::int64_t p = 0; p < state_.length(); ++p)
        if (placing_.loss_at(s, p)) sizes.push_back(std::abs(*placing_.loss_at(s, p)));
      const double share = quantile(sizes, 0.25);
      for (std::int64_t p = 0; p < state_.length(); ++p) {
        if (!placing_.loss_at(s, p)) continue;
        const double size = std::abs(*placing_.loss_at(s, p));
        if (size > kOwnLoss * share) predicted.push_back({s, p, size - share});
      }
    }
    std::ranges::stable_sort(predicted, {}, &Predicted::loss);
    std::vector<std::int64_t> labels;  // each as often as it was predicted, by ascending weight
    for (std::size_t t = 0; t < label_counts_.size(); ++t)
      labels.insert(labels.end(), static_cast<std::size_t>(label_counts_[t]), static_cast<std::int64_t>(t));
    std::ranges::stable_sort(labels, {},
                             [&](std::int64_t t) { return weights_[static_cast<std::size_t>(t)]; });
    if (labels.empty() || predicted.empty()) return;
    // Where all were found they stand in the same order; else the largest of both show the unit.
    const bool all = labels.size() == predicted.size();
    const double unit = predicted.back().loss / weights_[static_cast<std::size_t>(labels.back())];
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      std::int64_t label = labels[std::min(i, labels.size() - 1)];
      if (!all)
        for (const std::int64_t other : labels)
          if (std::abs(weights_[static_cast<std::size_t>(other)] * unit - predicted[i].loss) <
              std::abs(weights_[static_cast<std::size_t>(label)] * unit - predicted[i].loss))
            label = other;
      const double error = std::abs(weights_[static_cast<std::size_t>(label)] * unit / predicted[i].loss - 1);
      fill(predicted[i].sequence, predicted[i].position, label, all && error < 1e-2 ? kByCode : kByLabel,
           all && error < 1e-2);
    }
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
  const std::vector<std::int64_t>& label_counts_;  // of the state's ids
  std::int64_t sequences_;
  std::vector<Token> ids_;
  std::vector<std::int64_t> tokens_;  // of ids_, by sequence and place; -1: a hole
  std::vector<double> confidence_;
  std::vector<bool> certified_;
  std::vector<double> weights_;  // labels' weights, of ids_
};

}  // namespace

DecepticonRecovery completed(const Transformer& model, const ExactState& state, const Placing& placing,
                             const std::vector<std::int64_t>& label_counts) {
  return Completing(model, state, placing, label_counts).run();
}

}  // namespace undertext
