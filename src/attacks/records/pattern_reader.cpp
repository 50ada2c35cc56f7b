#include "attacks/records/pattern_reader.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "models/read_prefixes.h"

namespace undertext {
namespace {

OutputWeights output_of(const LanguageModel& model) {
  const at::Tensor& weight = model.parameters().at(*model.parameter_of(Role::output_weight));
  const auto bias = model.parameter_of(Role::output_bias);
  return {weight.size(0), weight.size(1), weight.data_ptr<float>(),
          bias ? model.parameters().at(*bias).data_ptr<float>() : nullptr};
}

}  // namespace

PatternReader::PatternReader(std::shared_ptr<const LanguageModel> model, const TokenPattern& pattern,
                             const Sentence& context)
    : model_(std::move(model)),
      reader_(read_prefixes(model_)),
      words_(*model_, pattern.alphabet()),
      output_(output_of(*model_)) {
  Sentence before = context;
  if (model_->start_token() != kNoToken) before.insert(before.begin(), model_->start_token());
  for (const Token token : before) begin_ = extend(std::span(&begin_, 1), std::span(&token, 1));
  if (begin_ > 0) keep(std::vector<StateId>{begin_});
  begin_ = before.empty() ? kNothing : 0;
}

StateId PatternReader::extend(std::span<const StateId> states, std::span<const Token> tokens) {
  states_ += std::ssize(states);
  return reader_->extend(states, tokens);
}

Matrix<float> PatternReader::scores(StateId first, std::span<const std::int32_t> places) {
  return log_probabilities(first, std::ssize(places));
}

Matrix<float> PatternReader::log_probabilities(StateId first, std::int64_t n) {
  if (first == kNothing) return Matrix<float>(n, words_.size());
  const float* h = reader_->hidden(first);
  Matrix<float> result = words_.logits(h, n);
  std::vector<double> log_total(static_cast<std::size_t>(n));
  log_normalisers(output_, h, n, log_total.data(), workspace_);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < result.cols; ++j)
      result(i, j) = static_cast<float>(result(i, j) - log_total[static_cast<std::size_t>(i)]);
  return result;
}

void PatternReader::keep(std::span<const StateId> states) {
  reader_->keep(states);
  states_ = std::ssize(states);
}

}  // namespace undertext
