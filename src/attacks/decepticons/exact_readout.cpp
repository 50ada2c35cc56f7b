#include <ATen/ATen.h>

#include "attacks/decepticons/completing.h"
#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/placing.h"
#include "attacks/decepticons/readout.h"
#include "base/error.h"

namespace undertext {
namespace {

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

// Tokens that were read: their embeddings moved. Of tied models the output's part lies in the tail alone. And
// tokens that were predicted: their biases fell.
std::vector<Token> tokens_seen(const Observation& observation, const Transformer& model) {
  const TransformerNames& names = model.names();
  std::vector<bool> seen(static_cast<std::size_t>(model.vocabulary_size()));
  for (const std::int64_t i :
       moved_rows(observed_gradient(observation, names.token_embedding), model.config().width - 1))
    seen[static_cast<std::size_t>(i)] = true;
  if (!names.output_bias.empty()) {
    const at::Tensor bias = observed_gradient(observation, names.output_bias);
    if (bias.defined())
      for (std::int64_t i = 0; i < bias.numel(); ++i)
        if (bias.data_ptr<float>()[i] < 0) seen[static_cast<std::size_t>(i)] = true;
  }
  std::vector<Token> ids;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) ids.push_back(static_cast<Token>(i));
  return ids;
}

// The last place of a causal model's sequence is only predicted, and moves nothing.
std::int64_t length_seen(const Observation& observation, const Transformer& model) {
  const std::vector<std::int64_t> rows =
      moved_rows(observed_gradient(observation, model.names().position_embedding), model.config().width - 1);
  if (rows.empty()) return 0;
  return rows.back() + 1 + (model.config().causal ? 1 : 0);
}

}  // namespace

DecepticonRecovery read_exactly(const Observation& observation, const DecepticonKey& key,
                                const DecepticonOptions& options) {
  const Transformer& model = corrupted_model(observation, key);
  if (key.design == DecepticonDesign::paper) return read_as_in_paper(observation, key, options);
  const std::int64_t seen = length_seen(observation, model);
  if (seen == 0) fail("the gradient moves no place, expected that of a text");
  if (options.length > 0 && options.length != seen)
    fail("the gradient is of sequences of {} tokens, {} were said", seen, options.length);
  const ExactState state(model, key, tokens_seen(observation, model), seen);
  ObservedRows rows = observed_rows(observation, model, measuring_layers(model.config()));
  Placing placing(state, rows, options.sequences);
  placing.run();
  return completed(model, state, placing);
}

}  // namespace undertext
