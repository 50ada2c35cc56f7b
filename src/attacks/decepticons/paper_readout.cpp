// decepticons, algorithm 1.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "attacks/bag_of_words.h"
#include "attacks/decepticons/constrained_means.h"
#include "attacks/decepticons/correlation.h"
#include "attacks/decepticons/denoised_rows.h"
#include "attacks/decepticons/difference_rows.h"
#include "attacks/decepticons/masked_bag.h"
#include "attacks/decepticons/match_tokens.h"
#include "attacks/decepticons/place_rows.h"
#include "attacks/decepticons/readout.h"
#include "attacks/decepticons/sequence_shape.h"
#include "attacks/decepticons/token_beliefs.h"
#include "base/error.h"

namespace undertext {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// The weight of the check against the whole vocabulary; a tied model's bag is better than its rows.
float weight_of_vocabulary(TransformerKind kind) {
  return kind == TransformerKind::gpt2 ? 0.0f : 0.25f;
}

// exact: what was not read has not moved. Else the bag is what stands out, and may hold more than there are.
TokenBag bag_of(const Observation& observation, std::int64_t tokens, double cutoff, bool exact) {
  const WordRecovery words = recover_bag(observation, {tokens, cutoff});
  if (words.words.empty()) fail("no token's row moved, expected the gradient of at least one text");
  if (exact && static_cast<std::int64_t>(words.words.size()) > tokens)
    fail("the gradient is of {} different tokens, expected {} in all by the number and length of sequences",
         words.words.size(), tokens);
  TokenBag bag;
  for (const RecoveredWord& word : words.words) {
    bag.ids.push_back(word.id);
    bag.counts.push_back(std::llround(word.count));
  }
  return bag;
}

// The first `length` position rows, standardised where tokens and positions lie.
Matrix<float> places_of(const Transformer& model, std::int64_t first, std::int64_t length) {
  const TransformerConfig& config = model.config();
  const at::Tensor positions = model.parameters().at(model.names().position_embedding);
  return standardised(positions.data_ptr<float>(), length, config.width, first, config.width - 1);
}

// What is left of each slot's row without its place: standardise both, subtract, rescale.
Matrix<float> without_places(const Matrix<float>& rows, const std::vector<Slot>& slots,
                             const Matrix<float>& places) {
  Matrix<float> contents(static_cast<std::int64_t>(slots.size()), rows.cols);
  for (std::int64_t i = 0; i < contents.rows; ++i) {
    if (slots[at(i)].row < 0) continue;
    const float *row = rows.row(slots[at(i)].row), *place = places.row(i % places.rows);
    float fit = 0;
    for (std::int64_t j = 0; j < rows.cols; ++j) fit += row[j] * place[j];
    for (std::int64_t j = 0; j < rows.cols; ++j) contents(i, j) = row[j] - fit * place[j];
    standardise(contents.row(i), contents.cols);
  }
  return contents;
}

// Hidden places are filled with what was to be predicted, which place by which token is not known
// (appendix E.1).
void fill_hidden(const std::vector<Token>& hidden, Token mask, DecepticonRecovery& recovery) {
  std::size_t next = 0;
  for (RecoveredSequence& sequence : recovery.sequences)
    for (std::size_t i = 0; i < sequence.ids.size(); ++i) {
      if (sequence.ids[i] != mask || hidden.empty()) continue;
      sequence.ids[i] = hidden[next++ % hidden.size()];
      sequence.confidence[i] = 1 / static_cast<double>(hidden.size());
      sequence.certified[i] = false;
    }
}

}  // namespace

DecepticonRecovery read_as_in_paper(const Observation& observation, const DecepticonKey& key,
                                    const DecepticonOptions& options) {
  const Transformer& model = corrupted_model(observation, key);
  const std::int64_t d = model.config().width, code = key.code;
  const std::vector<LayerGradient> gradients = layer_gradients(model, observation);
  const double noise = noise_of(gradients, least_jump(key.disguise));
  const Observation clean = noise > 0 ? without_noise(model, observation, noise) : observation;
  const SequenceShape shape = shape_of(model, clean, key, options, noise > 0);
  const bool masked = model.config().masked();
  // The output bias of a masked model knows hidden words alone (appendix E.1).
  const bool exact = noise == 0 && !model.config().tied;
  const MaskedBag parts = masked ? masked_bag(model, clean, shape.tokens())
                                 : MaskedBag{bag_of(clean, shape.tokens(), options.bag_cutoff, exact), {}};
  const DifferenceRows found = noise > 0 ? denoised_differences(gradients, noise, shape.tokens())
                                         : divided_differences(gradients, least_jump(key.disguise));
  const std::int64_t count = found.rows.rows;
  if (count == 0 && noise == 0)
    fail("no bin of the feed-forward parts holds anything, expected a gradient of this state");

  const Matrix<float> codes = standardised(found.rows.data.data(), count, d, 0, code);
  const Matrix<float> rows = standardised(found.rows.data.data(), count, d, code, d - 1);
  const std::int64_t capacity = std::max(shape.length, (count + shape.sequences - 1) / shape.sequences);
  const std::vector<std::int64_t> cluster =
      cluster_within(codes, {shape.sequences, capacity, 10, options.seed});
  const Matrix<float> places = places_of(model, code, shape.length);
  const std::vector<Slot> slots = place_rows(rows, cluster, shape.sequences, places);

  const at::Tensor embedding = model.parameters().at(model.names().token_embedding);
  const EmbeddingView tokens_view{embedding.data_ptr<float>(), embedding.size(0), d, code, d - 1};
  const std::vector<Token> tokens = match_tokens(without_places(rows, slots, places), parts.read, tokens_view,
                                                 weight_of_vocabulary(model.config().kind));
  DecepticonRecovery recovery =
      beliefs_of({model, shape, code, rows, codes, places, found.pure, found.weight, cluster, slots, tokens});
  if (masked && model.mask()) fill_hidden(parts.hidden, *model.mask(), recovery);
  return recovery;
}

}  // namespace undertext
