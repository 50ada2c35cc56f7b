#include "models/cifg_lstm.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"
#include "models/cifg_cell.h"
#include "models/cifg_config.h"
#include "models/cifg_sentences.h"
#include "models/gemm.h"
#include "models/output_layer.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

const std::string kEmbedding = "embedding.weight", kWeightIh = "cell.weight_ih", kWeightHh = "cell.weight_hh",
                  kBias = "cell.bias", kProjection = "proj.weight", kProjectionBias = "proj.bias",
                  kOutputWeight = "decoder.weight", kOutputBias = "decoder.bias";

// Words per piece of a larger batch: bounds the memory of a call (at most 50 KB a word for the keyboard).
constexpr std::size_t kWordsAtOnce = 2048;

std::map<std::string, std::vector<std::int64_t>> shapes(const CifgConfig& config) {
  const std::int64_t v = config.vocabulary, e = config.embedding, u = config.units;
  std::map<std::string, std::vector<std::int64_t>> result = {
      {kEmbedding, {v, e}},  {kWeightIh, {3 * u, e}}, {kWeightHh, {3 * u, e}}, {kBias, {3 * u}},
      {kProjection, {e, u}}, {kProjectionBias, {e}},  {kOutputBias, {v}}};
  if (!config.tied) result[kOutputWeight] = {v, e};
  return result;
}

const std::string& output_weight(const CifgConfig& config) {
  return config.tied ? kEmbedding : kOutputWeight;
}

const float* data(const NamedTensors& tensors, const std::string& name) {
  return tensors.at(name).data_ptr<float>();
}

float* data_if_present(const NamedTensors& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second.data_ptr<float>();
}

CellWeights cell_weights(const CifgConfig& config, const NamedTensors& p) {
  return {config.embedding,   config.units,   data(p, kEmbedding),  data(p, kWeightIh),
          data(p, kWeightHh), data(p, kBias), data(p, kProjection), data(p, kProjectionBias)};
}

OutputWeights output_weights(const CifgConfig& config, const NamedTensors& p) {
  return {config.vocabulary, config.embedding, data(p, output_weight(config)), data(p, kOutputBias)};
}

CellGradient cell_gradient(const NamedTensors& gradient, double scale) {
  return {data_if_present(gradient, kEmbedding),
          data_if_present(gradient, kWeightIh),
          data_if_present(gradient, kWeightHh),
          data_if_present(gradient, kBias),
          data_if_present(gradient, kProjection),
          data_if_present(gradient, kProjectionBias),
          scale};
}

CifgParts parts_of(const CifgConfig& config, const std::vector<std::string>& names) {
  const auto has = [&](const std::string& name) { return std::ranges::count(names, name) > 0; };
  return {has(kEmbedding),
          has(kWeightIh),
          has(kWeightHh),
          has(kBias),
          has(kProjection),
          has(kProjectionBias),
          !config.tied && has(kOutputWeight),
          has(kOutputBias),
          config.tied};
}

struct Workspace {
  CellWorkspace cell;
  OutputWorkspace output;
  SentencesWorkspace sentences;
};

Workspace& workspace() {
  thread_local Workspace mine;
  return mine;
}

void check_words(std::span<const Sentence> sentences, std::int64_t vocabulary) {
  for (const Sentence& sentence : sentences)
    for (const Token token : sentence) UNDERTEXT_CHECK(token >= 0 && token < vocabulary);
}

// Norms of single sentences ask for products of all pairs of a sentence's words, and for all words at once in
// one block of the output layer: pieces of this many words. One sentence that is longer is done by itself.
constexpr std::size_t kLongestInPairs = 256;

// Calls body(first, count) for runs of sentences with at most so many words (or one sentence).
template <typename Body>
void in_pieces(std::span<const Sentence> sentences, Body body, std::size_t most = kWordsAtOnce) {
  for (std::size_t first = 0; first < sentences.size();) {
    std::size_t last = first, words = 0;
    while (last < sentences.size() && (last == first || words + sentences[last].size() <= most))
      words += sentences[last++].size();
    body(first, last - first);
    first = last;
  }
}

double total_loss(std::span<const float> counts, const std::vector<double>& log_probability) {
  double loss = 0;
  for (std::size_t i = 0; i < log_probability.size(); ++i) loss -= counts[i] * log_probability[i];
  return loss;
}

// The same tree with words that count as much as their sentences weigh.
PrefixTree weighed(PrefixTree tree, std::span<const Sentence> sentences, std::span<const double> weights) {
  std::ranges::fill(tree.target_count, 0.0f);
  std::ranges::fill(tree.row_count, 0.0f);
  std::size_t word = 0;
  for (std::size_t s = 0; s < sentences.size(); ++s)
    for (std::size_t i = 0; i < sentences[s].size(); ++i)
      tree.target_count[tree.word_target[word++]] += static_cast<float>(weights[s]);
  for (std::int64_t r = 0; r < tree.rows(); ++r)
    for (std::int64_t i = tree.target_begin[r]; i < tree.target_begin[r + 1]; ++i)
      tree.row_count[r] += tree.target_count[i];
  return tree;
}

// The whole of it for one piece: loss, and its gradient times scale added to `gradient`. counts: of each
// target in the loss; the gradient has the tree's.
double gradient_of_tree(const CifgConfig& config, const NamedTensors& parameters, const PrefixTree& tree,
                        double scale, const NamedTensors& gradient, std::span<const float> counts) {
  if (tree.rows() == 0) return 0;
  const CellWeights cell_in = cell_weights(config, parameters);
  CifgCell cell(cell_in, tree, workspace().cell);
  const float* h = cell.forward();

  std::vector<double> log_probability(tree.target.size());
  float* d_h = workspace().cell.d_h.floats(tree.rows() * config.embedding);
  const OutputGradient output_out{d_h, data_if_present(gradient, output_weight(config)),
                                  data_if_present(gradient, kOutputBias), scale};
  output_layer(output_weights(config, parameters), h, tree, log_probability.data(), &output_out,
               workspace().output);

  const CellGradient cell_out = cell_gradient(gradient, scale);
  cell.backward(d_h, cell_out);
  return total_loss(counts, log_probability);
}

}  // namespace

CifgLstm::CifgLstm(const CifgConfig& config, NamedTensors parameters, const std::string& where)
    : config_(config), parameters_(std::move(parameters)) {
  const auto expected = shapes(config_);
  for (const auto& [name, shape] : expected) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) fail("{}: tensor {} is missing", where, name);
    at::Tensor& tensor = found->second;
    if (tensor.sizes() != at::IntArrayRef(shape))
      fail("{}: tensor {} has shape ({}), expected ({})", where, name, fmt::join(tensor.sizes(), ", "),
           fmt::join(shape, ", "));
    if (!tensor.is_floating_point())
      fail("{}: tensor {} has type {}, expected floating point", where, name,
           at::toString(tensor.scalar_type()));
    tensor = tensor.to(at::kFloat).contiguous();
    if (!tensor.isfinite().all().item<bool>())
      fail("{}: tensor {} holds NaN or infinity in float32", where, name);
  }
  for (const auto& [name, tensor] : parameters_)
    if (!expected.count(name)) fail("{}: tensor {} is not part of a cifg-lstm", where, name);
}

std::unique_ptr<CifgLstm> CifgLstm::random(const CifgConfig& config, Seed seed) {
  NamedTensors parameters;
  for (const auto& [name, shape] : shapes(config)) {
    at::Tensor tensor = at::zeros(shape, at::kFloat);
    if (shape.size() == 2) {
      // Glorot's uniform range; a table of embeddings is read one row at a time, so only its width counts.
      const bool table = name == kEmbedding;
      const double range =
          std::sqrt((table ? 3.0 : 6.0) / static_cast<double>(shape[1] + (table ? 0 : shape[0])));
      Random draw(seed.derive(name));
      float* values = tensor.data_ptr<float>();
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        values[i] = static_cast<float>((2 * draw.uniform() - 1) * range);
    }
    // A forget gate that starts open lets gradients flow back from the first step on.
    if (name == kBias) tensor.slice(0, 0, config.units).fill_(1);
    parameters[name] = tensor;
  }
  return std::make_unique<CifgLstm>(config, std::move(parameters));
}

std::unique_ptr<CifgLstm> CifgLstm::load(const std::filesystem::path& folder) {
  const CifgConfig config = read_cifg_config(folder / "config.json");
  std::vector<WantedTensor> wanted;
  for (const auto& [name, shape] : shapes(config)) wanted.push_back({name, shape});
  const std::filesystem::path file = tensor_file(folder);
  return std::make_unique<CifgLstm>(config, match_names(read_tensors(file), wanted, {}, file.string()),
                                    file.string());
}

void CifgLstm::save(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: cannot create the folder: {}", folder.string(), error.message());
  write_cifg_config(folder / "config.json", config_);
  write_safetensors(folder / "model.safetensors", parameters_, {{"format", "pt"}});
}

std::optional<std::string> CifgLstm::parameter_of(Role role) const {
  switch (role) {
    case Role::token_embedding:
      return kEmbedding;
    case Role::position_embedding:
      return std::nullopt;
    case Role::output_weight:
      return output_weight(config_);
    case Role::output_bias:
      return kOutputBias;
  }
  return std::nullopt;
}

std::vector<std::string> CifgLstm::trainable(bool with_embedding) const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parameters_)
    if (with_embedding || (name != kEmbedding && name != kProjectionBias)) names.push_back(name);
  return names;
}

std::unique_ptr<const LanguageModel> CifgLstm::with(const NamedTensors& changed) const {
  auto copy = std::make_unique<CifgLstm>(*this);
  for (const auto& [name, tensor] : changed) copy->parameters_.at(name) = tensor.contiguous();
  return copy;
}

std::unique_ptr<LanguageModel> CifgLstm::clone() const {
  auto copy = std::make_unique<CifgLstm>(*this);
  for (auto& [name, tensor] : copy->parameters_) tensor = tensor.clone();
  return copy;
}

void CifgLstm::check_gradient(const NamedTensors& gradient) const {
  for (const auto& [name, tensor] : gradient) {
    const auto found = parameters_.find(name);
    UNDERTEXT_CHECK(found != parameters_.end() && found->second.sizes() == tensor.sizes() &&
                    tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  }
}

double CifgLstm::add_gradient(std::span<const Sentence> sentences, double scale,
                              NamedTensors& gradient) const {
  check_words(sentences, config_.vocabulary);
  check_gradient(gradient);
  double loss = 0;
  in_pieces(sentences, [&](std::size_t first, std::size_t count) {
    const PrefixTree tree(sentences.subspan(first, count), config_.start);
    loss += gradient_of_tree(config_, parameters_, tree, scale, gradient, tree.target_count);
  });
  return loss;
}

double CifgLstm::add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                                       NamedTensors& gradient) const {
  check_gradient(gradient);
  check_words(sentences, config_.vocabulary);
  UNDERTEXT_CHECK(weights.size() == sentences.size());
  double loss = 0;
  in_pieces(sentences, [&](std::size_t first, std::size_t count) {
    const PrefixTree tree(sentences.subspan(first, count), config_.start);
    const PrefixTree weighted = weighed(tree, sentences.subspan(first, count), weights.subspan(first, count));
    loss += gradient_of_tree(config_, parameters_, weighted, 1, gradient, tree.target_count);
  });
  return loss;
}

std::vector<double> CifgLstm::gradient_norms(std::span<const Sentence> sentences,
                                             const std::vector<std::string>& names) const {
  std::vector<double> norms;
  pieces_alone(sentences, names, [&](CifgSentences*, std::span<const double> some) {
    norms.insert(norms.end(), some.begin(), some.end());
  });
  return norms;
}

double CifgLstm::add_clipped_gradient(std::span<const Sentence> sentences, const WeightOfNorm& weight_of,
                                      NamedTensors& gradient) const {
  check_gradient(gradient);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : gradient) names.push_back(name);
  std::size_t first = 0;
  return pieces_alone(sentences, names, [&](CifgSentences* piece, std::span<const double> norms) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < norms.size(); ++i) weights.push_back(weight_of(first + i, norms[i]));
    if (piece)
      piece->add(weights, cell_gradient(gradient, 1), data_if_present(gradient, output_weight(config_)),
                 data_if_present(gradient, kOutputBias));
    else
      add_weighted_gradient(sentences.subspan(first, norms.size()), weights, gradient);
    first += norms.size();
  });
}

double CifgLstm::pieces_alone(
    std::span<const Sentence> sentences, const std::vector<std::string>& names,
    const std::function<void(CifgSentences* piece, std::span<const double> norms)>& body) const {
  check_words(sentences, config_.vocabulary);
  const CellWeights cell_in = cell_weights(config_, parameters_);
  const OutputWeights output_in = output_weights(config_, parameters_);
  const CifgParts parts = parts_of(config_, names);
  double loss = 0;
  in_pieces(
      sentences,
      [&](std::size_t first, std::size_t count) {
        const auto some = sentences.subspan(first, count);
        const PrefixTree tree(some, config_.start);
        if (tree.rows() == 0 || some.front().size() > kLongestInPairs) {
          for (const double one : negative_log_likelihood(some)) loss += one;
          return body(nullptr, LanguageModel::gradient_norms(some, names));
        }
        CifgSentences piece(cell_in, output_in, some, tree, workspace().cell, workspace().output,
                            workspace().sentences);
        loss += piece.loss();
        body(&piece, piece.norms(parts));
      },
      kLongestInPairs);
  return loss;
}

double CifgLstm::descend(std::span<const Sentence> sentences, double rate,
                         const std::vector<std::string>& names) {
  check_words(sentences, config_.vocabulary);
  std::size_t words = 0;
  for (const Sentence& sentence : sentences) words += sentence.size();
  if (words <= kWordsAtOnce) {
    const PrefixTree tree(sentences, config_.start);
    if (tree.rows() <= rows_per_block(config_.vocabulary)) {
      // Everything is read before it is written: the products add to the weights in place.
      NamedTensors weights;
      for (const std::string& name : names) weights[name] = parameters_.at(name);
      return gradient_of_tree(config_, parameters_, tree, -rate, weights, tree.target_count);
    }
  }
  return LanguageModel::descend(sentences, rate, names);
}

std::vector<double> CifgLstm::negative_log_likelihood(std::span<const Sentence> sentences) const {
  check_words(sentences, config_.vocabulary);
  const CellWeights cell_in = cell_weights(config_, parameters_);
  std::vector<double> result(sentences.size(), 0.0);
  in_pieces(sentences, [&](std::size_t first, std::size_t count) {
    const PrefixTree tree(sentences.subspan(first, count), config_.start);
    if (tree.rows() == 0) return;
    CifgCell cell(cell_in, tree, workspace().cell);
    std::vector<double> log_probability(tree.target.size());
    output_layer(output_weights(config_, parameters_), cell.forward(), tree, log_probability.data(), nullptr,
                 workspace().output);
    std::size_t word = 0;
    for (std::size_t s = first; s < first + count; ++s)
      for (std::size_t i = 0; i < sentences[s].size(); ++i)
        result[s] -= log_probability[tree.word_target[word++]];
  });
  return result;
}

CifgLstm::State CifgLstm::start_state(std::int64_t n) const {
  return {at::zeros({n, config_.embedding}, at::kFloat), at::zeros({n, config_.units}, at::kFloat)};
}

CifgLstm::State CifgLstm::step(const State& state, std::span<const Token> tokens) const {
  const auto n = static_cast<std::int64_t>(tokens.size());
  UNDERTEXT_CHECK(state.h.size(0) == n && state.c.size(0) == n);
  for (const Token token : tokens) UNDERTEXT_CHECK(token >= 0 && token < config_.vocabulary);
  State next{at::empty({n, config_.embedding}, at::kFloat), at::empty({n, config_.units}, at::kFloat)};
  const at::Tensor h = state.h.contiguous(), c = state.c.contiguous();
  read_token(cell_weights(config_, parameters_), tokens, h.data_ptr<float>(), c.data_ptr<float>(),
             next.h.data_ptr<float>(), next.c.data_ptr<float>());
  return next;
}

at::Tensor CifgLstm::logits(const at::Tensor& h) const {
  constexpr std::int64_t kRows = 64;
  const std::int64_t n = h.size(0), v = config_.vocabulary, e = config_.embedding;
  UNDERTEXT_CHECK(h.dim() == 2 && h.size(1) == e);
  const at::Tensor rows = h.to(at::kFloat).contiguous();
  at::Tensor result = at::empty({n, v}, at::kFloat);
  const OutputWeights output = output_weights(config_, parameters_);
  const float* in = rows.data_ptr<float>();
  float* out = result.data_ptr<float>();
  parallel_for((n + kRows - 1) / kRows, [&](std::int64_t block) {
    const std::int64_t first = block * kRows, count = std::min(kRows, n - first);
    for (std::int64_t r = first; r < first + count; ++r) std::copy_n(output.bias, v, out + r * v);
    gemm(CblasNoTrans, CblasTrans, count, v, e, 1, in + first * e, e, output.weight, e, 1, out + first * v,
         v);
  });
  return result;
}

}  // namespace undertext
