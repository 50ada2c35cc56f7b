#include "models/char_lstm/char_lstm.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"
#include "models/char_lstm/decoder.h"
#include "models/char_lstm/gradient_norms.h"
#include "models/char_lstm/gradient_sums.h"
#include "models/char_lstm/pieces.h"
#include "models/char_lstm/training_piece.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

// Characters of a sentence that are read at once when nothing has to come back: bounds the memory of whole
// books.
constexpr std::size_t kWindow = 512;

struct Workspace {
  PackedWeights packed;
  std::vector<TrainingPiece> pieces;
  GradientWorkspace gradient;
};

Workspace& workspace() {
  thread_local Workspace mine;
  return mine;
}

struct ReadingWorkspace {
  LstmWorkspace lstm;
  Buffer scratch;
};

// -log p of the chosen sentences, window by window, added to each one's place in `loss`.
void read(const PackedWeights& weights, const CharLstmConfig& config, std::span<const Sentence> sentences,
          std::vector<std::size_t> chosen, std::span<double> loss) {
  thread_local ReadingWorkspace work;
  LstmState state;
  std::vector<double> log_probability;
  for (std::size_t first = 0; !chosen.empty(); first += kWindow) {
    const StepRows rows(sentences, chosen, first, kWindow);
    LstmPass pass(weights, rows, {}, work.lstm);
    const float* h = pass.forward(nullptr, &state, sentences.size());
    log_probability.resize(rows.target.size());
    decode(weights, {h, rows.target, log_probability.data(), {}}, work.scratch);
    for (std::int64_t step = 0; step < rows.steps(); ++step)
      for (std::int64_t place = 0; place < rows.width(step); ++place)
        loss[rows.sentence[place]] -= log_probability[rows.begin[step] + place];
    std::erase_if(chosen, [&](std::size_t s) { return sentences[s].size() < first + kWindow + 2; });
    if (chosen.empty()) return;
    state.h.resize(static_cast<std::size_t>(config.layers * config.units) * sentences.size());
    state.c.resize(state.h.size());
    pass.last_state(state, sentences.size(), config.units);
  }
}

}  // namespace

CharLstm::CharLstm(const CharLstmConfig& config, NamedTensors parameters, const std::string& where)
    : config_(config), names_(config), parameters_(std::move(parameters)) {
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
    if (!tensor.isfinite().all().item<bool>())
      fail("{}: tensor {} holds NaN or infinity in float32", where, spec.name);
  }
  for (const auto& given : parameters_)
    if (std::ranges::none_of(names_.specs,
                             [&](const WantedTensor& spec) { return spec.name == given.first; }))
      fail("{}: tensor {} is not part of a char-lstm", where, quote(given.first));
}

std::unique_ptr<CharLstm> CharLstm::random(const CharLstmConfig& config, Seed seed) {
  return std::make_unique<CharLstm>(config, random_parameters(config, seed));
}

std::unique_ptr<CharLstm> CharLstm::load(const std::filesystem::path& folder) {
  const CharLstmConfig config = read_char_lstm_config(ConfigFields(folder / "config.json"));
  const std::filesystem::path file = tensor_file(folder);
  return std::make_unique<CharLstm>(
      config, match_names(read_tensors(file), CharLstmNames(config).specs, {}, file.string()), file.string());
}

void CharLstm::save(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: cannot create the folder: {}", folder.string(), error.message());
  write_char_lstm_config(folder / "config.json", config_);
  write_safetensors(folder / "model.safetensors", parameters_, {{"format", "pt"}});
}

std::vector<std::string> CharLstm::parameter_order() const {
  std::vector<std::string> names;
  for (const WantedTensor& spec : names_.specs) names.push_back(spec.name);
  return names;
}

std::optional<std::string> CharLstm::parameter_of(Role role) const {
  switch (role) {
    case Role::token_embedding:
      return names_.embedding;
    case Role::position_embedding:
      return std::nullopt;
    case Role::output_weight:
      return names_.output_weight;
    case Role::output_bias:
      return names_.output_bias;
  }
  return std::nullopt;
}

std::vector<std::string> CharLstm::trainable(bool with_embedding) const {
  std::vector<std::string> names = parameter_order();
  if (!with_embedding) std::erase(names, names_.embedding);
  return names;
}

std::unique_ptr<const LanguageModel> CharLstm::with(const NamedTensors& changed) const {
  auto copy = std::make_unique<CharLstm>(*this);
  for (const auto& [name, tensor] : changed) copy->parameters_.at(name) = tensor.contiguous();
  return copy;
}

std::unique_ptr<LanguageModel> CharLstm::clone() const {
  auto copy = std::make_unique<CharLstm>(*this);
  for (auto& [name, tensor] : copy->parameters_) tensor = tensor.clone();
  return copy;
}

void CharLstm::perturb(const Perturbation& perturbation) {
  const auto share = [](double value) { return value >= 0 && value < 1; };
  const auto size = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!size(perturbation.embedding_noise))
    fail("embedding noise of {}, expected a deviation of 0 or more", perturbation.embedding_noise);
  if (!share(perturbation.embedding_dropout))
    fail("embedding dropout of {}, expected a share from 0 to less than 1", perturbation.embedding_dropout);
  if (!size(perturbation.adversarial))
    fail("an adversarial step of {}, expected a norm of 0 or more", perturbation.adversarial);
  if (perturbation.layer_dropout && !share(*perturbation.layer_dropout))
    fail("layer dropout of {}, expected a share from 0 to less than 1", *perturbation.layer_dropout);
  perturbation_ = perturbation;
}

std::int64_t CharLstm::predicted(std::span<const Sentence> sentences) const {
  std::size_t characters = 0;
  for (const Sentence& sentence : sentences) characters += sentence.empty() ? 0 : sentence.size() - 1;
  return static_cast<std::int64_t>(characters);
}

void CharLstm::check_characters(std::span<const Sentence> sentences) const {
  for (const Sentence& sentence : sentences)
    for (const Token token : sentence) UNDERTEXT_CHECK(token >= 0 && token < config_.vocabulary);
}

TrainingCall CharLstm::call(std::span<const Sentence> sentences, std::span<const double> weights) const {
  check_characters(sentences);
  workspace().packed.pack(config_, names_, parameters_, true);
  return {workspace().packed, config_, sentences, weights, seed_, perturbation_};
}

void CharLstm::run_pieces(const TrainingCall& call, std::span<double> loss,
                          const std::function<void(std::span<const TrainingPiece>)>& finished) const {
  const auto pieces = pieces_of(call.sentences, config_, std::numeric_limits<std::size_t>::max());
  // How many run at once changes no byte: every sum takes them one by one, in their order.
  const auto at_once = std::min(static_cast<std::size_t>(threads_here()), pieces.size());
  std::vector<TrainingPiece>& work = workspace().pieces;
  if (work.size() < at_once) work.resize(at_once);
  for (std::size_t first = 0; first < pieces.size(); first += at_once) {
    const std::size_t count = std::min(at_once, pieces.size() - first);
    parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t i) {
      work[static_cast<std::size_t>(i)].run(call, pieces[first + static_cast<std::size_t>(i)], loss);
    });
    finished(std::span(work).first(count));
  }
}

double CharLstm::train(std::span<const Sentence> sentences, std::span<const double> weights, double scale,
                       NamedTensors& gradient, LstmState* carried) const {
  for (const auto& [name, tensor] : gradient) {
    const auto found = parameters_.find(name);
    UNDERTEXT_CHECK(found != parameters_.end() && found->second.sizes() == tensor.sizes() &&
                    tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  }
  TrainingCall shared = call(sentences, weights);
  GradientSums sums(config_, names_, shared.weights, gradient, workspace().gradient);
  shared.to_embedding = sums.wants_embedding();
  LstmState next;
  if (carried) {
    const auto size = static_cast<std::size_t>(config_.layers * config_.units) * sentences.size();
    UNDERTEXT_CHECK(carried->empty() || (carried->h.size() == size && carried->c.size() == size));
    shared.state = carried;
    next = *carried;
    next.h.resize(size);
    next.c.resize(size);
  }
  std::vector<double> loss(sentences.size(), 0.0);
  run_pieces(shared, loss, [&](std::span<const TrainingPiece> pieces) {
    parallel_for(sums.parts(), [&](std::int64_t part) {
      for (const TrainingPiece& piece : pieces)
        for (const PassGradient& pass : piece.passes()) sums.add(part, pass);
    });
    if (!carried) return;
    for (const TrainingPiece& piece : pieces)
      piece.first_pass().last_state(next, sentences.size(), config_.units);
  });
  sums.finish(scale);
  if (carried) *carried = std::move(next);
  double total = 0;
  for (const double one : loss) total += one;
  return total;
}

double CharLstm::add_gradient(std::span<const Sentence> sentences, double scale,
                              NamedTensors& gradient) const {
  return train(sentences, {}, scale, gradient, nullptr);
}

double CharLstm::add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                                       NamedTensors& gradient) const {
  UNDERTEXT_CHECK(weights.size() == sentences.size());
  return train(sentences, weights, 1, gradient, nullptr);
}

double CharLstm::add_gradient_from(LstmState& carried, std::span<const Sentence> sentences, double scale,
                                   NamedTensors& gradient) const {
  return train(sentences, {}, scale, gradient, &carried);
}

std::vector<double> CharLstm::gradient_norms(std::span<const Sentence> sentences,
                                             const std::vector<std::string>& names) const {
  const std::set<std::string> wanted(names.begin(), names.end());
  for (const std::string& name : wanted) UNDERTEXT_CHECK(parameters_.contains(name));
  TrainingCall shared = call(sentences, {});
  shared.to_embedding = wanted.contains(names_.embedding);
  std::vector<double> loss(sentences.size()), norms(sentences.size(), 0.0);
  run_pieces(shared, loss, [&](std::span<const TrainingPiece> pieces) {
    for (const TrainingPiece& piece : pieces)
      parallel_for(piece.rows().places(), [&](std::int64_t place) {
        norms[piece.rows().sentence[place]] =
            std::sqrt(squared_gradient_norm(shared, piece, place, names_, wanted));
      });
  });
  return norms;
}

std::vector<double> CharLstm::negative_log_likelihood(std::span<const Sentence> sentences) const {
  check_characters(sentences);
  std::vector<double> loss(sentences.size(), 0.0);
  const auto pieces = pieces_of(sentences, config_, kWindow);
  PackedWeights& packed = workspace().packed;
  packed.pack(config_, names_, parameters_, false);
  parallel_for(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t piece) {
    read(packed, config_, sentences, pieces[static_cast<std::size_t>(piece)], loss);
  });
  return loss;
}

std::shared_ptr<const PackedWeights> CharLstm::packed() const {
  auto weights = std::make_shared<PackedWeights>();
  weights->pack(config_, names_, parameters_, false);
  return weights;
}

}  // namespace undertext
