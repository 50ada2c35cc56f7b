#include "attacks/gradient_matching.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adam.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>

#include "attacks/bag_of_words.h"
#include "attacks/words.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "models/soft_model.h"

namespace undertext {
namespace {

constexpr std::int64_t kDlgIterations = 300, kTagIterations = 1000;
constexpr double kDlgRate = 1, kTagRate = 0.1;

// What all restarts share: the observed gradient and the shape of what is sought.
struct Target {
  std::shared_ptr<const SoftModel> model;
  NamedTensors parameters;                 // leaves; those that are matched ask for gradients
  std::vector<at::Tensor> leaves, wanted;  // what is matched, first layer first, and its observed gradient
  std::vector<double> weights;             // of the absolute distance, falling from the first layer on
  double size = 0;                         // sum of squares of `wanted`
  at::Tensor embedding;                    // (V, D), or (bag, D)
  at::Tensor start;                        // (D), what is read first; undefined: nothing
  std::vector<Token> words;                // the word of each row of `embedding`
  std::vector<Token> label_words;          // the words that labels are made of
  std::int64_t count = 0, length = 0;      // B, T
  bool mean = false;
  // What the protocol says of the client's defences: numbers that are zero were pruned and say nothing, and
  // clipping leaves the gradient's direction alone.
  bool pruned = false, clipped = false;
  double spread = 1;  // of what the first layer sees: the unit of a step of the inputs
};

Target target_of(const Observation& observation, const MatchingOptions& options) {
  const LanguageModel& model = *observation.before;
  const Protocol& protocol = observation.update.protocol;
  if (protocol.epochs != 1 || (protocol.batch != 0 && protocol.batch < protocol.count))
    fail("gradient matching needs the gradient of one step: expected 1 epoch and one batch");
  Target target;
  target.model = model.soft_model();
  if (!target.model) fail("gradient matching is not there for a {} model", model.kind());
  target.count = options.count > 0 ? options.count : protocol.count;
  target.length = options.length > 0 ? options.length : longest_text(observation);
  if (target.count == 0) fail("the number of texts is not told: expected --count N");
  if (target.length == 0) fail("the number of words of a text is not to be seen: expected --length N");
  if (options.labels == MatchingLabels::known)
    for (const Sentence& sentence : options.known)
      if (static_cast<std::int64_t>(sentence.size()) != target.length)
        fail("known labels: a text has {} tokens, expected {} in each", sentence.size(), target.length);
  if (options.labels == MatchingLabels::known && std::ssize(options.known) != target.count)
    fail("known labels: {} texts, expected {}", options.known.size(), target.count);
  target.mean = protocol.reduction == Reduction::mean;
  target.pruned = protocol.defence.pruned > 0;
  target.clipped = protocol.defence.clip > 0 || protocol.defence.text_clip > 0;

  // The token embedding's own gradient says which words were read (attack words); matching leaves it out, as
  // inputs that are no words have none.
  const auto embedding = model.parameter_of(Role::token_embedding);
  for (const auto& [name, tensor] : model.parameters()) target.parameters[name] = tensor.detach();
  for (const std::string& name : model.parameter_order()) {
    if (name == embedding || !observation.update.tensors.contains(name)) continue;
    at::Tensor& leaf = target.parameters.at(name);
    leaf = leaf.clone().requires_grad_();
    target.leaves.push_back(leaf);
    target.wanted.push_back(summed_gradient(observation, name).to(at::kFloat));
    target.size += target.wanted.back().to(at::kDouble).square().sum().item<double>();
  }
  if (target.leaves.empty() || target.size == 0) fail("the update holds no gradient that could be matched");
  const auto n = static_cast<double>(target.leaves.size());
  for (std::size_t i = 0; i < target.leaves.size(); ++i)
    target.weights.push_back((n - static_cast<double>(i)) / n);

  const at::Tensor table = model.parameters().at(*embedding).detach();
  if (const auto position = model.parameter_of(Role::position_embedding)) {
    const double token = table.std().item<double>(),
                 place = model.parameters().at(*position).std().item<double>();
    target.spread = std::sqrt(token * token + place * place);
  }
  if (model.start_token() != kNoToken) target.start = table[model.start_token()];
  std::vector<Token> all(static_cast<std::size_t>(model.vocabulary_size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Token>(i);
  target.words = options.bag.empty() ? all : std::vector<Token>(options.bag.begin(), options.bag.end());
  target.label_words = target.words;
  if (options.labels == MatchingLabels::recovered)
    target.label_words = ids_of(recover_words_by_sign(observation));
  if (target.label_words.empty()) fail("the update shows no words that could be labels");
  target.embedding =
      table.index_select(0, at::tensor(std::vector<std::int64_t>(target.words.begin(), target.words.end())));
  return target;
}

// One attempt: variables, the loss of matching, and the words that they have become.
class Attempt {
 public:
  Attempt(const Target& target, const MatchingOptions& options, Seed seed)
      : target_(target), options_(options) {
    const bool after_start = target.model->alignment() == SoftModel::Alignment::after_start;
    // The keyboard reads its start token and all words but the last.
    inputs_ = after_start ? target.length - 1 : target.length;
    places_ = target.model->alignment() == SoftModel::Alignment::next ? target.length - 1 : target.length;
    if (!options.bag.empty()) {
      mixture_ = normal({target.count, target.length, rows()}, 1, seed.derive("mixture"));
      variables_ = {mixture_};
      return;
    }
    const double deviation = target.embedding.std().item<double>();
    if (inputs_ > 0) {
      embeddings_ =
          normal({target.count, inputs_, target.embedding.size(1)}, deviation, seed.derive("inputs"));
      variables_.push_back(embeddings_);
    }
    if (options.labels != MatchingLabels::known) {
      labels_ = normal({target.count, places_, static_cast<std::int64_t>(target.label_words.size())}, 1,
                       seed.derive("labels"));
      variables_.push_back(labels_);
    }
  }

  std::vector<at::Tensor>& variables() { return variables_; }
  // One group for each variable: embeddings take steps in units of what the first layer sees.
  std::vector<torch::optim::OptimizerParamGroup> groups() const {
    std::vector<torch::optim::OptimizerParamGroup> result;
    for (const at::Tensor& variable : variables_) result.emplace_back(std::vector<at::Tensor>{variable});
    return result;
  }
  double step_of(std::size_t variable) const {
    return embeddings_.defined() && variables_[variable].is_same(embeddings_) ? target_.spread : 1;
  }

  // The distance that the method minimises; its gradient is left in the variables.
  at::Tensor distance() {
    const at::Tensor loss = model_loss();
    const auto gradients = torch::autograd::grad({loss}, target_.leaves, {}, true, true, true);
    at::Tensor squared = at::zeros({}, at::kFloat), absolute = at::zeros({}, at::kFloat);
    const at::Tensor scale = scale_of(gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      at::Tensor difference = scale * gradients[i] - target_.wanted[i];
      if (target_.pruned) difference = difference * (target_.wanted[i] != 0);
      squared = squared + difference.square().sum();
      if (options_.method == MatchingMethod::tag)
        absolute = absolute + target_.weights[i] * difference.abs().sum();
    }
    squared_ = squared.item<double>();
    // Relative to what is to be matched, so that rates mean the same for a sum and a mean.
    const at::Tensor total = squared / target_.size + options_.alpha * absolute / std::sqrt(target_.size);
    const auto by = torch::autograd::grad({total}, variables_);
    for (std::size_t i = 0; i < by.size(); ++i) variables_[i].mutable_grad() = by[i].contiguous();
    return total.detach();
  }

  double share_left() const { return squared_ / target_.size; }

  std::vector<Sentence> sentences() const {
    const at::NoGradGuard no_grad;
    std::vector<Sentence> result(static_cast<std::size_t>(target_.count));
    for (std::int64_t b = 0; b < target_.count; ++b) {
      Sentence& sentence = result[static_cast<std::size_t>(b)];
      for (std::int64_t t = 0; t < target_.length; ++t) sentence.push_back(word_at(b, t));
    }
    return result;
  }

 private:
  std::int64_t rows() const { return target_.embedding.size(0); }

  // Of a clipped gradient only the direction is known: brings any to the length of the observed one.
  at::Tensor scale_of(const std::vector<at::Tensor>& gradients) const {
    if (!target_.clipped) return at::ones({});
    at::Tensor squares = at::zeros({});
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined())
        squares = squares +
                  (target_.pruned ? gradients[i] * (target_.wanted[i] != 0) : gradients[i]).square().sum();
    return std::sqrt(target_.size) * at::rsqrt(squares + 1e-30);
  }

  static at::Tensor normal(const std::vector<std::int64_t>& shape, double deviation, Seed seed) {
    at::Tensor tensor = at::zeros(shape, at::kFloat);
    add_normal_noise(seed, static_cast<float>(deviation), tensor.data_ptr<float>(), tensor.numel());
    return tensor.requires_grad_();
  }

  // Of -log p of the labels, as the client summed or averaged it.
  at::Tensor model_loss() const {
    const at::Tensor shares = mixture_.defined() ? at::softmax(mixture_, -1) : at::Tensor();
    at::Tensor inputs = embeddings_;
    if (shares.defined()) inputs = at::matmul(shares.slice(1, 0, inputs_), target_.embedding);
    if (target_.start.defined()) {
      const at::Tensor start = target_.start.expand({target_.count, 1, target_.start.size(0)});
      inputs = inputs.defined() ? at::cat({start, inputs}, 1) : start;
    }
    const at::Tensor log_p =
        at::log_softmax(target_.model->logits(target_.parameters, inputs), -1).slice(1, 0, places_);
    const double scale = target_.mean ? 1.0 / static_cast<double>(target_.count * places_) : 1.0;
    if (options_.labels == MatchingLabels::known && !shares.defined())
      return -scale * log_p.gather(2, known_labels().unsqueeze(-1)).sum();
    at::Tensor labels;
    if (shares.defined()) {
      const bool next = target_.model->alignment() == SoftModel::Alignment::next;
      labels = next ? shares.slice(1, 1) : shares;
    } else {
      labels = at::softmax(labels_, -1);
    }
    const std::vector<Token>& words = shares.defined() ? target_.words : target_.label_words;
    const bool all = static_cast<std::int64_t>(words.size()) == log_p.size(2);
    const at::Tensor of_words =
        all ? log_p
            : log_p.index_select(2, at::tensor(std::vector<std::int64_t>(words.begin(), words.end())));
    return -scale * (labels * of_words).sum();
  }

  // (B, places) of word ids.
  at::Tensor known_labels() const {
    const bool next = target_.model->alignment() == SoftModel::Alignment::next;
    at::Tensor labels = at::zeros({target_.count, places_}, at::kLong);
    for (std::int64_t b = 0; b < target_.count; ++b)
      for (std::int64_t t = 0; t < places_; ++t)
        labels[b][t] =
            options_.known[static_cast<std::size_t>(b)][static_cast<std::size_t>(t + (next ? 1 : 0))];
    return labels;
  }

  // Inputs by the nearest embedding; the last word, which is not read or moves nothing, by its label.
  Token word_at(std::int64_t b, std::int64_t t) const {
    const auto best = [](const at::Tensor& scores) {
      return static_cast<std::size_t>(scores.argmax().item<std::int64_t>());
    };
    if (mixture_.defined()) return target_.words[best(mixture_[b][t])];
    const bool next = target_.model->alignment() == SoftModel::Alignment::next;
    if (t + 1 == target_.length && target_.model->alignment() != SoftModel::Alignment::same) {
      if (labels_.defined()) return target_.label_words[best(labels_[b][places_ - 1])];
      return static_cast<Token>(known_labels()[b][next ? t - 1 : t].item<std::int64_t>());
    }
    const at::Tensor x = embeddings_[b][t];
    const at::Tensor cosine = at::mv(target_.embedding, x) / (target_.embedding.norm(2, 1) + 1e-12);
    return target_.words[best(cosine)];
  }

  const Target& target_;
  const MatchingOptions& options_;
  std::int64_t inputs_ = 0, places_ = 0;  // words that are read, places that predict
  at::Tensor embeddings_, labels_;        // (B, inputs, D), (B, places, label words)
  at::Tensor mixture_;                    // (B, T, bag) in place of both
  std::vector<at::Tensor> variables_;
  double squared_ = std::numeric_limits<double>::infinity();
};

struct Outcome {
  std::vector<Sentence> sentences;
  double share_left = std::numeric_limits<double>::infinity();
};

// Keeps the best point on the way: neither method goes down steadily.
Outcome run(const Target& target, const MatchingOptions& options, Seed seed,
            const std::function<void(double)>& done) {
  Attempt attempt(target, options, seed);
  Outcome best;
  const auto look = [&] {
    if (attempt.share_left() < best.share_left) best = {attempt.sentences(), attempt.share_left()};
    done(best.share_left);
  };
  const bool dlg = options.method == MatchingMethod::dlg;
  const std::int64_t iterations =
      options.iterations > 0 ? options.iterations : (dlg ? kDlgIterations : kTagIterations);
  const double rate = options.step_size > 0 ? options.step_size : (dlg ? kDlgRate : kTagRate);
  if (dlg) {
    torch::optim::LBFGS optimiser(
        attempt.variables(),
        torch::optim::LBFGSOptions(rate).max_iter(1).history_size(50).line_search_fn("strong_wolfe"));
    for (std::int64_t i = 0; i < iterations; ++i) {
      optimiser.step([&] { return attempt.distance(); });
      look();
      if (!std::isfinite(attempt.share_left())) break;
    }
    return best;
  }
  torch::optim::Adam optimiser(attempt.groups(), torch::optim::AdamOptions(rate));
  for (std::int64_t i = 0; i < iterations; ++i) {
    const double left = 1 - static_cast<double>(i) / static_cast<double>(iterations);
    for (std::size_t v = 0; v < attempt.variables().size(); ++v)
      static_cast<torch::optim::AdamOptions&>(optimiser.param_groups()[v].options())
          .lr(rate * left * attempt.step_of(v));
    attempt.distance();
    look();
    optimiser.step();
    if (!std::isfinite(attempt.share_left())) break;
  }
  return best;
}

}  // namespace

SentenceRecovery recover_by_matching(const Observation& observation, const MatchingOptions& options) {
  const Target target = target_of(observation, options);
  UNDERTEXT_CHECK(options.restarts > 0);
  const bool dlg = options.method == MatchingMethod::dlg;
  const std::int64_t iterations =
      options.iterations > 0 ? options.iterations : (dlg ? kDlgIterations : kTagIterations);
  std::optional<Progress> progress;
  if (options.progress) progress.emplace(dlg ? "DLG" : "TAG", iterations * options.restarts, "steps");
  std::vector<Outcome> outcomes(static_cast<std::size_t>(options.restarts));
  parallel_for(options.restarts, [&](std::int64_t i) {
    outcomes[static_cast<std::size_t>(i)] =
        run(target, options, options.seed.derive("attempt").derive(static_cast<std::uint64_t>(i)),
            [&](double left) {
              if (progress) progress->advance(1, fmt::format("{:.3g} of the gradient unmatched", left));
            });
  });
  const auto best = std::ranges::min_element(outcomes, {}, &Outcome::share_left);
  SentenceRecovery result;
  result.residual = best->share_left;
  for (const Sentence& sentence : best->sentences) result.sentences.push_back({sentence, -best->share_left});
  return result;
}

}  // namespace undertext
