#include "models/transformer/transformer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"
#include "models/gemm.h"
#include "models/transformer/soft_transformer.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

// What one way through may keep of its layers; more sentences are read in several.
constexpr std::int64_t kActivations = std::int64_t{512} << 20;

struct Workspace {
  TransformerWorkspace pass;
  OutputWorkspace output;
  Buffer d_h;
};

Workspace& workspace() {
  thread_local Workspace mine;
  return mine;
}

float* data_if_present(const NamedTensors& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second.data_ptr<float>();
}

// Adds the whole batch's gradient, times scale, to those that are wanted.
class AddGradient : public GradientSink {
 public:
  AddGradient(const TransformerConfig& config, const TransformerNames& names, const TokenRows& rows,
              std::int64_t picked, double scale, NamedTensors& gradient)
      : config_(config), names_(names), rows_(rows), picked_(picked), scale_(scale), gradient_(gradient) {}

  void linear(const Linear& layer, const std::string& weight, const std::string& bias, const float* x,
              const float* dy, std::int64_t ldy, bool in_head) override {
    add_linear_gradient(layer, x, dy, in_head ? picked_ : rows_.rows(), ldy,
                        {data_if_present(gradient_, weight), data_if_present(gradient_, bias), scale_});
  }
  void norm(const LayerNorm& norm, const std::string& weight, const std::string& bias, const float* x,
            const float* statistics, const float* dy, bool in_head) override {
    add_layer_norm_gradient(norm, x, statistics, dy, in_head ? picked_ : rows_.rows(),
                            {data_if_present(gradient_, weight), data_if_present(gradient_, bias), scale_});
  }
  void embedding(const float* d) override {
    float* words = data_if_present(gradient_, names_.token_embedding);
    float* places = data_if_present(gradient_, names_.position_embedding);
    float* types =
        names_.type_embedding.empty() ? nullptr : data_if_present(gradient_, names_.type_embedding);
    for (std::int64_t s = 0; s < rows_.sequences(); ++s) {
      const std::int64_t first = rows_.begin[static_cast<std::size_t>(s)];
      for (std::int64_t r = first; r < rows_.begin[static_cast<std::size_t>(s) + 1]; ++r) {
        const float* row = d + r * config_.width;
        if (words) add(words, rows_.token[static_cast<std::size_t>(r)], row);
        if (places) add(places, r - first, row);
      }
    }
    if (types) add_column_sums(d, rows_.rows(), config_.width, config_.width, scale_, types);
  }

 private:
  void add(float* table, std::int64_t at, const float* row) const {
    const auto scale = static_cast<float>(scale_);
    float* to = table + at * config_.width;
    for (std::int64_t j = 0; j < config_.width; ++j) to[j] += scale * row[j];
  }

  const TransformerConfig& config_;
  const TransformerNames& names_;
  const TokenRows& rows_;
  std::int64_t picked_;
  double scale_;
  NamedTensors& gradient_;
};

}  // namespace

TransformerWorkspace& Transformer::pass_workspace() {
  return workspace().pass;
}

Transformer::Transformer(const TransformerConfig& config, NamedTensors parameters, const std::string& where)
    : config_(config), names_(config), parameters_(std::move(parameters)) {
  std::size_t known = 0;
  for (const WantedTensor& spec : names_.specs) {
    const auto found = parameters_.find(spec.name);
    if (found == parameters_.end()) fail("{}: tensor {} is missing", where, spec.name);
    at::Tensor& tensor = found->second;
    if (tensor.sizes() != at::IntArrayRef(spec.shape))
      fail("{}: tensor {} has shape ({}), expected ({})", where, spec.name, fmt::join(tensor.sizes(), ", "),
           fmt::join(spec.shape, ", "));
    if (!tensor.is_floating_point())
      fail("{}: tensor {} has type {}, expected floating point", where, spec.name,
           at::toString(tensor.scalar_type()));
    tensor = tensor.to(at::kFloat).contiguous();
    ++known;
  }
  if (known != parameters_.size())
    for (const auto& given : parameters_)
      if (std::ranges::none_of(names_.specs,
                               [&](const WantedTensor& spec) { return spec.name == given.first; }))
        fail("{}: tensor {} is not part of a {}", where, quote(given.first), kind());
}

std::unique_ptr<Transformer> Transformer::random(const TransformerConfig& config, Seed seed) {
  return std::make_unique<Transformer>(config, random_parameters(config, seed));
}

std::unique_ptr<Transformer> Transformer::load(const std::filesystem::path& folder,
                                               const TransformerConfig& config, std::string* hash) {
  const ModelTensors tensors = undertext::tensors_in_files(config);
  const std::filesystem::path file = tensor_file(folder);
  auto model = std::make_unique<Transformer>(
      config, match_names(read_tensors(file), tensors.wanted, tensors.match, file.string()), file.string());
  const std::string own = check_and_hash(model->parameters_, file);
  if (hash) *hash = own;
  return model;
}

void Transformer::save(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: cannot create the folder: {}", folder.string(), error.message());
  write_transformer_config(folder / "config.json", config_);
  write_safetensors(folder / "model.safetensors", parameters_, {{"format", "pt"}});
}

std::vector<std::string> Transformer::parameter_order() const {
  std::vector<std::string> names;
  for (const WantedTensor& spec : names_.specs) names.push_back(spec.name);
  return names;
}

std::optional<std::string> Transformer::parameter_of(Role role) const {
  const std::string& name = role == Role::token_embedding      ? names_.token_embedding
                            : role == Role::position_embedding ? names_.position_embedding
                            : role == Role::output_weight      ? names_.output_weight
                                                               : names_.output_bias;
  return name.empty() ? std::nullopt : std::optional(name);
}

std::vector<std::string> Transformer::trainable(bool with_embedding) const {
  std::vector<std::string> names = parameter_order();
  if (!with_embedding) std::erase(names, names_.token_embedding);
  return names;
}

std::unique_ptr<const LanguageModel> Transformer::with(const NamedTensors& changed) const {
  auto copy = std::make_unique<Transformer>(*this);
  for (const auto& [name, tensor] : changed) copy->parameters_.at(name) = tensor.contiguous();
  return copy;
}

std::unique_ptr<LanguageModel> Transformer::clone() const {
  auto copy = std::make_unique<Transformer>(*this);
  for (auto& [name, tensor] : copy->parameters_) tensor = tensor.clone();
  return copy;
}

void Transformer::check(std::span<const Sentence> sentences, const std::string& where) const {
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (static_cast<std::int64_t>(sentences[i].size()) > config_.positions)
      fail("{}: text {} has {} tokens, expected at most {}, which is all that this model reads", where, i + 1,
           sentences[i].size(), config_.positions);
  if (config_.masked() && !mask_)
    fail("{}: this model fills in hidden words, and its tokenizer has no [MASK] to hide them", where);
}

std::vector<Example> Transformer::examples(std::span<const Sentence> sentences) const {
  std::vector<Example> result;
  result.reserve(sentences.size());
  const Seed masks = seed_.value_or(Seed(0)).derive("masks");
  // Clients need the real one (check); for a rough picture of what the model predicts any token will do.
  const Token mask = mask_.value_or(0);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    result.push_back(config_.masked()
                         ? masked_word_example(sentences[i], mask, config_.vocabulary, masks.derive(i))
                         : next_word_example(sentences[i]));
  return result;
}

std::int64_t Transformer::predicted(std::span<const Sentence> sentences) const {
  std::int64_t count = 0;
  for (const Example& example : examples(sentences))
    count += std::ranges::count_if(example.target, [](Token token) { return token != kNoTarget; });
  return count;
}

OutputWeights Transformer::output() const {
  return {config_.vocabulary, config_.width, parameters_.at(names_.output_weight).data_ptr<float>(),
          names_.output_bias.empty() ? nullptr : parameters_.at(names_.output_bias).data_ptr<float>()};
}

void Transformer::for_pieces(std::span<const Example> examples,
                             const std::function<void(const Piece&)>& body) const {
  // Kept of each row: x, query, key, value, attended, middle, (tail) and the inner part, by every layer.
  const std::int64_t row = config_.layers * (7 * config_.width + config_.inner) * std::int64_t{sizeof(float)};
  const std::int64_t most = std::max<std::int64_t>(1, kActivations / std::max<std::int64_t>(row, 1));
  for (std::size_t first = 0; first < examples.size();) {
    Piece piece;
    piece.first = first;
    if (seed_) piece.dropout = seed_->derive("dropout").derive(first);
    for (; first < examples.size(); ++first, ++piece.count) {
      const Example& example = examples[first];
      UNDERTEXT_CHECK(example.input.size() == example.target.size());
      const auto length = static_cast<std::int64_t>(example.input.size());
      if (piece.count > 0 && piece.rows.rows() + length > most) break;
      for (std::size_t i = 0; i < example.target.size(); ++i) {
        if (example.target[i] == kNoTarget) continue;
        UNDERTEXT_CHECK(example.target[i] >= 0 && example.target[i] < config_.vocabulary);
        piece.picked.push_back(piece.rows.rows() + static_cast<std::int64_t>(i));
        piece.targets.add(example.target[i]);
      }
      piece.rows.add(example.input);
    }
    if (!piece.picked.empty()) body(piece);
  }
}

Targets Transformer::weighted_targets(std::span<const Example> examples, const Piece& piece,
                                      std::span<const double> weights) {
  Targets targets;
  for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
    for (const Token target : examples[i].target)
      if (target != kNoTarget) targets.add(target, static_cast<float>(weights[i]));
  return targets;
}

double Transformer::add_gradient(std::span<const Sentence> sentences, double scale,
                                 NamedTensors& gradient) const {
  return add_gradient(examples(sentences), scale, gradient);
}

double Transformer::add_gradient(std::span<const Example> examples, double scale,
                                 NamedTensors& gradient) const {
  return add_gradient(examples, {}, scale, gradient);
}

double Transformer::add_weighted_gradient(std::span<const Sentence> sentences,
                                          std::span<const double> weights, NamedTensors& gradient) const {
  UNDERTEXT_CHECK(weights.size() == sentences.size());
  return add_gradient(examples(sentences), weights, 1, gradient);
}

std::vector<double> Transformer::gradient_norms(std::span<const Sentence> sentences,
                                                const std::vector<std::string>& names) const {
  return gradient_norms(examples(sentences), names);
}

double Transformer::add_gradient(std::span<const Example> examples, std::span<const double> weights,
                                 double scale, NamedTensors& gradient) const {
  for (const auto& [name, tensor] : gradient) {
    const auto found = parameters_.find(name);
    UNDERTEXT_CHECK(found != parameters_.end() && found->second.sizes() == tensor.sizes() &&
                    tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  }
  const TransformerWeights own = this->weights();
  double loss = 0;
  for_pieces(examples, [&](const Piece& piece) {
    Workspace& work = workspace();
    TransformerPass pass(config_, names_, own, piece.rows, piece.dropout, pass_workspace());
    const float* h = pass.forward(piece.picked);
    const auto n = static_cast<std::int64_t>(piece.picked.size());
    std::vector<double> log_probability(piece.picked.size());
    const OutputGradient out{
        work.d_h.floats(n * config_.width), data_if_present(gradient, names_.output_weight),
        names_.output_bias.empty() ? nullptr : data_if_present(gradient, names_.output_bias), scale};
    const Targets weighted = weights.empty() ? Targets() : weighted_targets(examples, piece, weights);
    output_layer(output(), h, weights.empty() ? piece.targets : weighted, log_probability.data(), &out,
                 work.output);
    for (const double value : log_probability) loss -= value;
    AddGradient sink(config_, names_, piece.rows, n, scale, gradient);
    pass.backward(out.h, sink);
  });
  return loss;
}

std::vector<double> Transformer::negative_log_likelihood(std::span<const Sentence> sentences) const {
  return negative_log_likelihood(examples(sentences));
}

std::vector<double> Transformer::negative_log_likelihood(std::span<const Example> examples) const {
  std::vector<double> result(examples.size(), 0.0);
  const TransformerWeights own = weights();
  for_pieces(examples, [&](const Piece& piece) {
    Workspace& work = workspace();
    TransformerPass pass(config_, names_, own, piece.rows, std::nullopt, pass_workspace());
    const float* h = pass.forward(piece.picked);
    std::vector<double> log_probability(piece.picked.size());
    output_layer(output(), h, piece.targets, log_probability.data(), nullptr, work.output);
    std::size_t next = 0;
    for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
      for (const Token target : examples[i].target)
        if (target != kNoTarget) result[i] -= log_probability[next++];
  });
  return result;
}

at::Tensor Transformer::logits(std::span<const Example> examples) const {
  TokenRows rows;
  for (const Example& example : examples) rows.add(example.input);
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const TransformerWeights own = weights();
  TransformerPass pass(config_, names_, own, rows, std::nullopt, pass_workspace());
  const float* h = pass.forward(all);
  at::Tensor result = at::empty({rows.rows(), config_.vocabulary}, at::kFloat);
  const at::Tensor none = at::zeros({config_.vocabulary}, at::kFloat);
  parallel_gemm(CblasNoTrans, CblasTrans, rows.rows(), config_.vocabulary, config_.width, 1, h, config_.width,
                own.output_weight, config_.width, 0, result.data_ptr<float>(), config_.vocabulary,
                own.output_bias ? own.output_bias : none.data_ptr<float>());
  return result;
}

std::shared_ptr<const SoftModel> Transformer::soft_model() const {
  return std::make_shared<SoftTransformer>(config_);
}

}  // namespace undertext
