#include "models/char_lstm/training_piece.h"

#include <algorithm>
#include <cmath>

#include "models/char_lstm/decoder.h"

namespace undertext {
namespace {

std::vector<Dropout> layer_dropout(const TrainingCall& call) {
  const double share = call.perturbation.layer_dropout.value_or(call.config.dropout);
  if (!call.seed || share <= 0) return {};
  std::vector<Dropout> result;
  for (std::size_t l = 0; l < call.weights.layers.size(); ++l)
    result.emplace_back(share, call.seed->derive("layer dropout").derive(l));
  return result;
}

// Of what comes out of the embedding for a sentence: (steps, E).
Dropout embedding_dropout(const TrainingCall& call, std::size_t sentence) {
  const double share = call.perturbation.embedding_dropout;
  return call.seed && share > 0 ? Dropout(share, call.seed->derive("embedding dropout").derive(sentence))
                                : Dropout();
}

}  // namespace

void TrainingPiece::run(const TrainingCall& call, std::span<const std::size_t> chosen,
                        std::span<double> loss) {
  rows_.emplace(call.sentences, chosen);
  passes_.clear();
  passes_.reserve(2);
  gradients_.clear();
  for (const std::size_t s : chosen) loss[s] = 0;
  const Perturbation& p = call.perturbation;
  const bool noisy = call.seed && (p.embedding_noise > 0 || p.embedding_dropout > 0);
  const bool adversarial = p.adversarial > 0;
  const double factor = adversarial ? 0.5 : 1;
  fill_row_weights(call, factor);

  const float* inputs = noisy ? noisy_inputs(call) : nullptr;
  float* d_inputs = pass(call, inputs, adversarial || (noisy && call.to_embedding), factor, loss);
  if (adversarial) {
    const float* harder = adversarial_inputs(call, inputs, d_inputs);
    float* d_harder = pass(call, harder, call.to_embedding, factor, loss);
    if (call.to_embedding) undo_dropout(call, d_harder);
    gradients_.back().d_embedding = d_harder;
  }
  // Without noise the first pass read the tokens as they are, and its sums by token are enough.
  if (!noisy) return;
  if (call.to_embedding) undo_dropout(call, d_inputs);
  gradients_.front().d_embedding = d_inputs;
}

void TrainingPiece::fill_row_weights(const TrainingCall& call, double factor) {
  row_weight_.resize(static_cast<std::size_t>(rows_->rows()));
  for (std::int64_t step = 0; step < rows_->steps(); ++step)
    for (std::int64_t place = 0; place < rows_->width(step); ++place) {
      const double weight = call.sentence_weight.empty() ? 1 : call.sentence_weight[rows_->sentence[place]];
      row_weight_[rows_->begin[step] + place] = static_cast<float>(weight * factor);
    }
}

float* TrainingPiece::noisy_inputs(const TrainingCall& call) {
  const std::int64_t e = call.config.embedding, width = call.weights.embedding;
  float* inputs = buffers_[0].inputs.floats(rows_->rows() * width);
  std::fill_n(inputs, rows_->rows() * width, 0.0f);
  std::vector<float> own;  // of one sentence, (steps, E)
  for (std::int64_t place = 0; place < rows_->places(); ++place) {
    const std::size_t sentence = rows_->sentence[place];
    const std::int64_t steps = rows_->length(place);
    own.assign(static_cast<std::size_t>(steps * e), 0.0f);
    if (call.perturbation.embedding_noise > 0)
      add_normal_noise(call.seed->derive("embedding noise").derive(sentence),
                       static_cast<float>(call.perturbation.embedding_noise), own.data(), steps * e);
    const Dropout dropout = embedding_dropout(call, sentence);
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t row = rows_->begin[step] + place;
      const float* table = call.weights.token_embedding(rows_->token[row]);
      for (std::int64_t j = 0; j < e; ++j)
        inputs[row * width + j] =
            (table[j] + own[step * e + j]) * dropout.factor(static_cast<std::uint64_t>(step * e + j));
    }
  }
  return inputs;
}

void TrainingPiece::undo_dropout(const TrainingCall& call, float* d_inputs) const {
  const std::int64_t e = call.config.embedding, width = call.weights.embedding;
  for (std::int64_t place = 0; place < rows_->places(); ++place) {
    const Dropout dropout = embedding_dropout(call, rows_->sentence[place]);
    if (!dropout.acts()) continue;
    for (std::int64_t step = 0; step < rows_->length(place); ++step) {
      float* row = d_inputs + (rows_->begin[step] + place) * width;
      for (std::int64_t j = 0; j < e; ++j) row[j] *= dropout.factor(static_cast<std::uint64_t>(step * e + j));
    }
  }
}

// Eq. 13, delta = -epsilon g / |g| for each sentence, where g is meant as the gradient of the log-likelihood:
// as in Miyato et al. (2017), the step raises the loss. Taken of the loss itself, as the text has it, it
// would make the sentence easier and not be adversarial at all.
float* TrainingPiece::adversarial_inputs(const TrainingCall& call, const float* inputs,
                                         const float* d_inputs) {
  const std::int64_t width = call.weights.embedding;
  float* harder = buffers_[1].inputs.floats(rows_->rows() * width);
  for (std::int64_t place = 0; place < rows_->places(); ++place) {
    double squares = 0;
    for (std::int64_t step = 0; step < rows_->length(place); ++step) {
      const float* g = d_inputs + (rows_->begin[step] + place) * width;
      for (std::int64_t j = 0; j < width; ++j) squares += static_cast<double>(g[j]) * g[j];
    }
    // The gradient carries the sentence's weight, whose size drops out here but whose sign must not count.
    const double sign = row_weight_[static_cast<std::size_t>(place)] < 0 ? -1 : 1;
    const double norm = std::sqrt(squares);
    const auto factor = norm > 0 ? static_cast<float>(sign * call.perturbation.adversarial / norm) : 0.0f;
    for (std::int64_t step = 0; step < rows_->length(place); ++step) {
      const std::int64_t row = rows_->begin[step] + place;
      const float* x = inputs ? inputs + row * width : call.weights.token_embedding(rows_->token[row]);
      const float* g = d_inputs + row * width;
      for (std::int64_t j = 0; j < width; ++j) harder[row * width + j] = x[j] + factor * g[j];
    }
  }
  return harder;
}

float* TrainingPiece::pass(const TrainingCall& call, const float* inputs, bool to_inputs, double factor,
                           std::span<double> loss) {
  Buffers& own = buffers_[passes_.size()];
  LstmPass& lstm = passes_.emplace_back(call.weights, *rows_, layer_dropout(call), own.lstm);
  const float* out = lstm.forward(inputs, call.state, call.sentences.size());
  log_probability_.resize(rows_->target.size());
  float* d_logits = own.d_logits.floats(rows_->rows() * call.weights.vocabulary);
  float* d_out = own.d_out.floats(rows_->rows() * call.weights.units);
  decode(call.weights, {out, rows_->target, log_probability_.data(), row_weight_, d_logits, d_out}, scratch_);
  for (std::int64_t step = 0; step < rows_->steps(); ++step)
    for (std::int64_t place = 0; place < rows_->width(step); ++place)
      loss[rows_->sentence[place]] -= factor * log_probability_[rows_->begin[step] + place];
  float* d_inputs = lstm.backward(d_out, to_inputs);
  gradients_.push_back({&lstm, out, d_logits, nullptr});
  return d_inputs;
}

}  // namespace undertext
