#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attacks/decepticons/completing.h"
#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/placing.h"
#include "attacks/decepticons/readout.h"
#include "attacks/decepticons/sequence_shape.h"
#include "attacks/decepticons/superposed_readout.h"
#include "base/error.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kStandsOut = 50;     // deviations from a crowd that hardly deviates
constexpr double kOutOfNoise = 6;     // deviations
constexpr double kNoisy = 0.9;        // of the vocabulary: more than texts move
constexpr double kPlacedLeast = 0.3;  // of the tokens: fewer, and the rows are not what they should be

// Rows that hold anything, in the first `columns` entries.
std::vector<std::int64_t> moved_rows(const at::Tensor& gradient, std::int64_t columns) {
  std::vector<std::int64_t> rows;
  const at::Tensor plain = gradient.contiguous();
  const float* values = plain.data_ptr<float>();
  const std::int64_t width = plain.size(1);
  for (std::int64_t i = 0; i < plain.size(0); ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (values[i * width + j] != 0) {
        rows.push_back(i);
        break;
      }
  return rows;
}

// Entries that stand out of a crowd which has nearly one value.
std::vector<std::int64_t> outliers(const at::Tensor& column, double times = kStandsOut) {
  const at::Tensor plain = column.to(at::kDouble).contiguous();
  std::vector<double> values(plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel());
  const double middle = quantile(values, 0.5);
  for (double& value : values) value -= middle;
  const double crowd = deviation_around_zero(values);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::abs(values[i]) > times * crowd) found.push_back(static_cast<std::int64_t>(i));
  return found;
}

// Tokens that were read: their embeddings moved. Of tied models the output's part lies in the tail alone. And
// tokens that were predicted: their biases fell or, without biases, their output's tails moved unlike
// others'.
std::vector<Token> tokens_seen(const Observation& observation, const Transformer& model) {
  const TransformerNames& names = model.names();
  const std::int64_t tail = model.config().width - 1;
  std::vector<bool> seen(static_cast<std::size_t>(model.vocabulary_size()));
  const auto mark = [&](std::int64_t i) { seen[static_cast<std::size_t>(i)] = true; };
  std::ranges::for_each(moved_rows(observed_gradient(observation, names.token_embedding), tail), mark);
  if (const at::Tensor bias = observed_gradient(observation, names.output_bias); bias.defined()) {
    for (std::int64_t i = 0; i < bias.numel(); ++i)
      if (bias.data_ptr<float>()[i] < 0) mark(i);
  } else if (const at::Tensor output = observed_gradient(observation, names.output_weight);
             output.defined()) {
    std::ranges::for_each(outliers(output.select(1, tail)), mark);
  }
  std::vector<Token> ids;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) ids.push_back(static_cast<Token>(i));
  return ids;
}

// The same where noise has moved every row: what stands out of it, of the entries that losses move most.
std::vector<Token> tokens_outstanding(const Observation& observation, const Transformer& model) {
  const TransformerNames& names = model.names();
  const std::int64_t tail = model.config().width - 1;
  std::set<Token> seen;
  const auto mark = [&](std::int64_t i) { seen.insert(static_cast<Token>(i)); };
  std::ranges::for_each(
      outliers(observed_gradient(observation, names.token_embedding).select(1, tail), kOutOfNoise), mark);
  if (const at::Tensor bias = observed_gradient(observation, names.output_bias); bias.defined())
    std::ranges::for_each(outliers(bias, kOutOfNoise), mark);
  return {seen.begin(), seen.end()};
}

// The deviation of each entry of the rows: their tails should hold next to nothing.
double noise_in(const ObservedRows& rows) {
  std::vector<double> tails;
  for (std::int64_t row = 0; row < rows.count(); ++row) tails.push_back(rows.rows(row, rows.rows.cols - 1));
  return deviation_around_zero(std::move(tails));
}

// How often each of the ids was predicted. A masked state predicts one token everywhere, so that the bias of
// every other falls by its share of the predictions alone.
std::vector<std::int64_t> label_counts(const Observation& observation, const Transformer& model,
                                       const std::vector<Token>& ids) {
  std::vector<std::int64_t> counts(ids.size());
  if (!model.config().masked()) return counts;
  const at::Tensor bias = observed_gradient(observation, model.names().output_bias);
  if (!bias.defined()) return counts;
  const float* falls = bias.data_ptr<float>();
  double one = 0;  // what one prediction brings
  for (const Token id : ids)
    if (falls[id] < 0 && (one == 0 || -falls[id] < one)) one = -falls[id];
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (falls[ids[i]] < 0) counts[i] = std::llround(-falls[ids[i]] / one);
  return counts;
}

// The last place of a causal model's sequence is only predicted, and moves nothing.
std::int64_t length_seen(const Observation& observation, const Transformer& model) {
  const std::vector<std::int64_t> rows =
      moved_rows(observed_gradient(observation, model.names().position_embedding), model.config().width - 1);
  if (rows.empty()) return 0;
  return rows.back() + 1 + (model.config().causal ? 1 : 0);
}

// What the rows hold, beside what was said of them, where they are read without doubt: with all sequences
// found too little is left for one more, and with one missing about its share. A place that is open, or taken
// by a wrong token, leaves its own share and at most as much again. Of causal models more may be left:
// sequences that begin alike share rows there.
void check_count(const Placing& placing, std::int64_t said, bool causal) {
  const std::int64_t found = placing.codes().count();
  const double left = placing.residual() * static_cast<double>(found + 1);
  if (said > found && found > 0 && left < 0.1)
    fail("the gradient holds {} sequences, {} were said", found, said);
  const double by_open_places = 2 * std::max(0.0, 1 - placing.sure_share()) * static_cast<double>(found + 1);
  if (said == found && !causal && left - by_open_places > 0.7)
    fail("the gradient holds more than the {} sequences that were said", said);
}

}  // namespace

DecepticonRecovery read_exactly(const Observation& observation, const DecepticonKey& key,
                                const DecepticonOptions& options) {
  const Transformer& model = corrupted_model(observation, key);
  const bool superposed = key.design == DecepticonDesign::paper;
  const std::vector<Token> ids = tokens_seen(observation, model);
  const std::int64_t seen = length_seen(observation, model);
  const bool noisy =
      static_cast<double>(ids.size()) > kNoisy * static_cast<double>(model.vocabulary_size()) &&
      seen >= model.config().positions && options.length != seen;
  // Of the paper's states of tied models all rows move anyhow, a disguise moves inputs from bin to bin, and
  // where there is noise neither are rows exact nor stands it out how long sequences are: then they are
  // compared by their directions, as the paper does.
  if ((superposed && (noisy || key.disguise > 0 || model.config().kind != TransformerKind::plain)) ||
      (noisy && options.length == 0))
    return read_as_in_paper(observation, key, options);
  if (seen == 0) fail("the gradient moves no place, expected that of a text");
  if (!noisy && options.length > 0 && options.length != seen)
    fail("the gradient is of sequences of {} tokens, {} were said", seen, options.length);
  if (superposed) {
    if (options.sequences > 0) check_sequences(model, observation, {options.sequences, seen});
    return read_superposed(observation, model, key, ids, seen);
  }

  const ExactState state(model, key, noisy ? tokens_outstanding(observation, model) : ids,
                         noisy ? options.length : seen);
  ObservedRows rows = observed_rows(observation, model, measuring_layers(model.config()));
  Placing placing(state, rows, options.sequences, noisy ? noise_in(rows) : 0);
  placing.run();
  if (!noisy && key.disguise == 0) check_count(placing, options.sequences, model.config().causal);
  // Where noise, dropout or rounding leave too few rows that fit, again the paper's way.
  if (placing.placed_share() < kPlacedLeast) return read_as_in_paper(observation, key, options);
  return completed(model, state, placing, label_counts(observation, model, state.ids()));
}

}  // namespace undertext
