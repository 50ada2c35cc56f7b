#include "attacks/decepticons/sequence_shape.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

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

PlacesMoved places_moved(const Transformer& model, const Observation& observation) {
  const auto found = observation.update.tensors.find(model.names().position_embedding);
  if (found == observation.update.tensors.end()) return {};
  const at::Tensor norms = found->second.norm(2, 1).contiguous();
  const float* values = norms.data_ptr<float>();
  // Noise moves all rows; those of places that were used stand out from the quietest half.
  std::vector<float> sorted(values, values + norms.size(0));
  std::ranges::sort(sorted);
  const float noise = sorted[sorted.size() / 2];
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

std::int64_t length_of(const Transformer& model, const Observation& observation, std::int64_t told) {
  const std::int64_t longest = model.config().positions;
  if (told > longest)
    fail("sequences of {} tokens, expected at most {}, which is all that this model reads", told, longest);
  const PlacesMoved moved = places_moved(model, observation);
  // The last token of a sequence predicts nothing, and its place does not move, or hardly: others attend to
  // it where a disguise makes attentions say a little.
  std::int64_t seen = moved.count;
  if (seen > 0 && !model.config().masked() && !moved.last_is_weak) seen = std::min(longest, seen + 1);
  if (told == 0 && seen == 0)
    fail("the update does not show how long its sequences are, expected --length S");
  if (told > 0 && moved.count > told)
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

}  // namespace

SequenceShape shape_of(const Transformer& model, const Observation& observation,
                       const DecepticonOptions& options) {
  SequenceShape shape;
  shape.length = length_of(model, observation, options.length);
  shape.sequences = options.sequences > 0 ? options.sequences : count_of(model, observation, shape.length);
  return shape;
}

}  // namespace undertext
