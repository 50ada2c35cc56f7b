#include "attacks/decepticons/sequence_shape.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attacks/bag_by_counts.h"
#include "attacks/bag_of_words.h"
#include "base/error.h"

namespace undertext {
namespace {

// Places that were read, as their position rows show.
struct PlacesMoved {
  std::int64_t count = 0;  // 0: not to be seen
  bool last_is_weak = false;
};

PlacesMoved places_moved(const Transformer& model, const Observation& observation, bool noisy) {
  const auto found = observation.update.tensors.find(model.names().position_embedding);
  if (found == observation.update.tensors.end()) return {};
  const at::Tensor norms = found->second.norm(2, 1).contiguous();
  const float* values = norms.data_ptr<float>();
  // Noise moves all rows; those of places that were used stand out from the quietest half.
  std::vector<float> sorted(values, values + norms.size(0));
  std::ranges::sort(sorted);
  const float noise = noisy ? sorted[sorted.size() / 2] : 0;
  constexpr float kOutstanding = 2, kWeak = 0.1f;
  PlacesMoved moved;
  for (std::int64_t p = 0; p < norms.size(0); ++p)
    if (values[p] > kOutstanding * noise || (noise == sorted.back() && values[p] > 0)) moved.count = p + 1;
  if (moved.count > 1) {
    std::vector<float> used(values, values + moved.count - 1);
    std::ranges::nth_element(used, used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2));
    moved.last_is_weak = values[moved.count - 1] < kWeak * used[used.size() / 2];
  }
  return moved;
}

// Whether the last place of a sequence moves too. It predicts nothing, but in a masked model others do, and
// where every place attends to all others it is part of their code; a disguise makes other attentions say a
// little, and noise hides the little that there is.
bool last_place_moves(const Transformer& model, const DecepticonKey& key, bool noisy,
                      const PlacesMoved& moved) {
  const TransformerConfig& config = model.config();
  if (config.masked()) return true;
  if (config.causal) return false;
  if (key.design == DecepticonDesign::best && !noisy) return true;
  return (key.disguise > 0 || noisy) && moved.last_is_weak;
}

std::int64_t length_of(const Transformer& model, const Observation& observation, const DecepticonKey& key,
                       bool noisy, std::int64_t told) {
  const std::int64_t longest = model.config().positions;
  if (told > longest)
    fail("sequences of {} tokens, expected at most {}, which is all that this model reads", told, longest);
  const PlacesMoved moved = places_moved(model, observation, noisy);
  std::int64_t seen = moved.count;
  if (seen > 0 && !last_place_moves(model, key, noisy, moved)) seen = std::min(longest, seen + 1);
  if (told == 0 && seen == 0)
    fail("the update does not show how long its sequences are, expected --length S");
  const bool more = moved.count > told;
  const bool fewer = !noisy && seen > 0 && moved.count + 1 < told;
  if (told > 0 && (more || fewer))
    fail("the gradient is of sequences of {} tokens, expected {} as --length says", seen, told);
  return told > 0 ? told : seen;
}

std::int64_t count_of(const Transformer& model, const Observation& observation, std::int64_t length) {
  const WordRecovery bag = recover_bag_by_counts(observation);
  double words = 0;
  for (const RecoveredWord& word : bag.words) words += word.count;
  const double per_sequence = model.config().masked() ? static_cast<double>(length)
                                                      : std::max(1.0, static_cast<double>(length) - 0.85);
  return std::max<std::int64_t>(1, std::llround(words / per_sequence));
}

// What each label's bias fell by, as a share of all labels: near a whole number of times 1 / (B (S - 1)).
std::vector<double> label_shares(const Transformer& model, const Observation& observation) {
  const auto found = observation.update.tensors.find(model.names().output_bias);
  if (found == observation.update.tensors.end() || model.config().tied || model.config().masked()) return {};
  const at::Tensor bias = found->second.to(at::kDouble).contiguous();
  const double* values = bias.data_ptr<double>();
  const double sign = observation.update.protocol.kind == UpdateKind::gradient ? -1 : 1;
  std::vector<double> falls;
  double total = 0;
  for (std::int64_t i = 0; i < bias.numel(); ++i)
    if (sign * values[i] > 0) {
      falls.push_back(sign * values[i]);
      total += falls.back();
    }
  // Predictions, which are nearly even, raise every token by its share of all.
  const auto vocabulary = static_cast<double>(bias.numel());
  total /= 1 - static_cast<double>(falls.size()) / vocabulary;
  for (double& fall : falls) fall = fall / total + 1 / vocabulary;
  return falls;
}

}  // namespace

void check_sequences(const Transformer& model, const Observation& observation, const SequenceShape& shape) {
  constexpr std::size_t kFewest = 16, kMost = 300;
  constexpr double kWhole = 0.8;  // 0: no more than by chance, 1: all are whole
  std::vector<double> shares = label_shares(model, observation);
  if (shares.size() < kFewest || shape.length < 2) return;
  std::ranges::sort(shares);
  shares.resize(std::min(shares.size(), kMost));
  const auto wholeness = [&](std::int64_t sequences) {
    double sum = 0;
    for (const double share : shares) {
      const double count = share * static_cast<double>(sequences * (shape.length - 1));
      sum += count < 0.5 ? -1 : std::cos(2 * std::numbers::pi * count);  // none is no label's count
    }
    return sum / static_cast<double>(shares.size());
  };
  std::int64_t fewest = 0;  // multiples of the right number fit as well
  double best = kWhole;
  for (std::int64_t b = 1; b <= 2 * shape.sequences + 1; ++b)
    if (const double score = wholeness(b); score > best) {
      if (fewest == 0 || score > 1.1 * best || b < fewest * 5 / 4) fewest = b;
      best = std::max(best, score);
    }
  const bool whole = wholeness(shape.sequences) > 0.7 * best && 4 * fewest > 3 * shape.sequences;
  if (fewest > 0 && !whole)
    fail("the gradient is of about {} sequences, expected {} as was said", fewest, shape.sequences);
}

SequenceShape shape_of(const Transformer& model, const Observation& observation, const DecepticonKey& key,
                       const DecepticonOptions& options, bool noisy) {
  SequenceShape shape;
  shape.length = length_of(model, observation, key, noisy, options.length);
  shape.sequences = options.sequences > 0 ? options.sequences : count_of(model, observation, shape.length);
  if (options.sequences > 0 && !noisy) check_sequences(model, observation, shape);
  return shape;
}

}  // namespace undertext
