#include "federated/local_training.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "federated/step_gradient.h"
#include "models/adam.h"

namespace undertext {
namespace {

void check(const LocalTraining& training) {
  if (training.epochs < 1) fail("epochs: {} given, expected at least 1", training.epochs);
  if (training.batch < 0) fail("batch: {} given, expected at least 0 (0: all sentences)", training.batch);
  if (!(training.learning_rate > 0) || !std::isfinite(training.learning_rate))
    fail("learning rate: {} given, expected a positive number", training.learning_rate);
  for (const double clip : {training.clip_norm, training.clip_value})
    if (!(clip >= 0) || !std::isfinite(clip))
      fail("clipping: {} given, expected a number of at least 0 (0: none)", clip);
}

void check(const LanguageModel& model, std::span<const Sentence> sentences) {
  if (std::ranges::all_of(sentences, [](const Sentence& s) { return s.empty(); }))
    fail("the texts hold no word to train on");
  model.check(sentences, "the client's texts");
  if (model.predicted(sentences) == 0) fail("the texts hold no word that the model would predict");
}

// 1 for a sum over the batch's predicted words, 1 / their number for a mean.
double weight_of(const LanguageModel& model, std::span<const Sentence> batch, Reduction reduction) {
  if (reduction == Reduction::sum) return 1;
  const std::int64_t words = model.predicted(batch);
  return words == 0 ? 1.0 : 1.0 / static_cast<double>(words);
}

void check_loss(double loss, std::int64_t step) {
  if (!std::isfinite(loss))
    fail("local training diverged at step {}: the loss is not finite; expected a smaller learning rate",
         step + 1);
}

double norm_of(const NamedTensors& gradient) {
  double squares = 0;
  for (const auto& [name, g] : gradient) squares += std::pow(at::norm(g, 2, at::kDouble).item<double>(), 2);
  return std::sqrt(squares);
}

AdamOptions adam_options(const LocalTraining& training) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  AdamOptions options;
  options.clip = training.clip_norm > 0 ? training.clip_norm : kNever;
  options.clip_value = training.clip_value > 0 ? training.clip_value : kNever;
  return options;
}

class Client {
 public:
  Client(LanguageModel& model, const LocalTraining& training, Defences defences)
      : model_(model),
        training_(training),
        defences_(defences),
        names_(model.trainable(training.train_embedding)),
        gradient_wanted_(training.kind == UpdateKind::gradient || act_on_steps(defences) ||
                         training.clip_norm > 0 || training.clip_value > 0 || training.carry_state) {
    perturb(model, defences);
    for (const auto& defence : defences) drift_ = std::hypot(drift_, defence->embedding_drift());
    if (training.optimiser == Optimiser::adam)
      adam_.emplace(model, adam_options(training), names_,
                    [this](std::span<const Sentence> batch, std::int64_t, NamedTensors& gradient) {
                      return defended_gradient(batch, gradient) /
                             static_cast<double>(std::max<std::int64_t>(model_.predicted(batch), 1));
                    });
  }

  void epoch(std::span<const Sentence> sentences) {
    const std::size_t batch = training_.batch == 0 ? std::max<std::size_t>(sentences.size(), 1)
                                                   : static_cast<std::size_t>(training_.batch);
    carried_ = {};
    if (training_.sampling == Sampling::poisson) {
      expected_ = static_cast<double>(std::min(batch, sentences.size()));
      for (std::int64_t left = steps_per_epoch(std::ssize(sentences), training_.batch); left > 0; --left)
        step(drawn(sentences));
      return;
    }
    for (std::size_t first = 0; first < sentences.size(); first += batch)
      step(sentences.subspan(first, std::min(batch, sentences.size() - first)));
  }

  // The gradient of the first step, as the defences leave it.
  NamedTensors gradient(std::span<const Sentence> batch) {
    prepare();
    defended_gradient(batch, own_gradient());
    return gradient_;
  }

  NamedTensors weights() const {
    NamedTensors result;
    for (const std::string& name : names_) result[name] = model_.parameters().at(name);
    return result;
  }

 private:
  std::vector<Sentence> drawn(std::span<const Sentence> sentences) const {
    Random random(training_.seed.derive("sample").derive(static_cast<std::uint64_t>(step_)));
    const double chance = expected_ / static_cast<double>(sentences.size());
    std::vector<Sentence> batch;
    for (const Sentence& sentence : sentences)
      if (random.uniform() < chance) batch.push_back(sentence);
    return batch;
  }

  // theta <- theta - lr * gradient (Algorithm 1), the gradient as the defences leave it (Algorithm 3).
  void step(std::span<const Sentence> batch) {
    prepare();
    if (adam_) {
      adam_->step(batch, training_.learning_rate);
    } else if (gradient_wanted_) {
      defended_gradient(batch, own_gradient());
      clip();
      for (const auto& [name, g] : gradient_) {
        at::Tensor parameter = model_.parameters().at(name);
        parameter.sub_(g, training_.learning_rate);
      }
    } else if (!batch.empty()) {
      const double weight = weight_of(model_, batch, training_.reduction);
      check_loss(model_.descend(batch, training_.learning_rate * weight, names_), step_);
    }
    ++step_;
  }

  // Dropout and hidden words are drawn anew for every step.
  void prepare() {
    const Seed seed = training_.seed.derive("step").derive(static_cast<std::uint64_t>(step_));
    model_.randomise(training_.dropout ? std::optional(seed) : std::nullopt);
    if (drift_ > 0) drift(seed.derive("embedding drift"));
  }

  void drift(Seed seed) {
    const std::optional<std::string> name = model_.parameter_of(Role::token_embedding);
    if (!name) fail("noise on the embedding's weights: a {} has none", model_.kind());
    at::Tensor weights = model_.parameters().at(*name);
    add_normal_noise(seed, static_cast<float>(drift_), weights.data_ptr<float>(), weights.numel());
  }

  NamedTensors& own_gradient() {
    if (gradient_.empty())
      for (const std::string& name : names_) gradient_[name] = at::zeros_like(model_.parameters().at(name));
    return gradient_;
  }

  // Returns the sum of losses.
  double defended_gradient(std::span<const Sentence> batch, NamedTensors& gradient) {
    const double loss = step_gradient(model_, batch, training_.reduction, defences_, step_, gradient,
                                      training_.carry_state ? &carried_ : nullptr, expected_);
    check_loss(loss, step_);
    return loss;
  }

  void clip() {
    if (training_.clip_norm > 0)
      if (const double norm = norm_of(gradient_); norm > training_.clip_norm)
        for (auto& [name, g] : gradient_) g.mul_(training_.clip_norm / norm);
    if (training_.clip_value > 0)
      for (auto& [name, g] : gradient_) g.clamp_(-training_.clip_value, training_.clip_value);
  }

  LanguageModel& model_;
  const LocalTraining& training_;
  Defences defences_;
  std::vector<std::string> names_;
  bool gradient_wanted_;
  NamedTensors gradient_;
  LstmState carried_;    // from step to step of an epoch
  double expected_ = 0;  // texts of a step that draws them; 0: as many as it is given
  std::optional<Adam> adam_;
  double drift_ = 0;  // of the embedding's weights in each step, of all defences together
  std::int64_t step_ = 0;
};

// Texts of the epoch of this number.
using Epochs = std::function<std::span<const Sentence>(std::int64_t epoch)>;

Update trained(const LanguageModel& base, const Epochs& texts, std::int64_t count,
               const LocalTraining& training, const std::string& base_hash, Defences defences) {
  const std::unique_ptr<LanguageModel> model = base.clone();
  if (training.zero_output_bias) zero_output_bias(*model);
  Client client(*model, training, defences);
  NamedTensors before;  // what a delta is measured from
  if (training.kind == UpdateKind::delta)
    for (const auto& [name, tensor] : model->parameters()) before[name] = tensor.clone();
  Update update;
  if (training.kind == UpdateKind::gradient) {
    update.tensors = client.gradient(texts(0));
  } else {
    for (std::int64_t epoch = 0; epoch < training.epochs; ++epoch) client.epoch(texts(epoch));
    update.tensors = client.weights();
  }
  if (training.kind == UpdateKind::delta)
    for (auto& [name, tensor] : update.tensors) tensor = tensor - before.at(name);
  for (const auto& defence : defences) defence->on_result(update.tensors);
  update.protocol = {training.kind, training.learning_rate, training.epochs,           training.batch,
                     count,         training.reduction,     training.zero_output_bias, base_hash};
  const std::int64_t of_step = training.batch == 0 ? count : std::min(training.batch, count);
  for (const auto& defence : defences)
    defence->tell(update.protocol.defence,
                  training.reduction == Reduction::mean ? static_cast<double>(of_step) : 1);
  return update;
}

}  // namespace

std::int64_t steps_per_epoch(std::int64_t texts, std::int64_t batch) {
  return batch == 0 ? 1 : (texts + batch - 1) / batch;
}

std::int64_t overlap_for(const LanguageModel& model) {
  return model.start_token() == kNoToken ? 1 : 0;
}

Update train_locally(const LanguageModel& base, std::span<const Sentence> sentences,
                     const LocalTraining& training, const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences) {
  check(training);
  const std::int64_t count = std::ssize(sentences);
  if (training.kind == UpdateKind::gradient &&
      (training.epochs != 1 || (training.batch != 0 && training.batch < count)))
    fail("a client that sends its gradient takes one step: expected 1 epoch and one batch, not {} and {}",
         training.epochs, training.batch);
  check(base, sentences);
  return trained(
      base, [&](std::int64_t) { return sentences; }, count, training, base_hash, defences);
}

Update train_locally(const LanguageModel& base, const ClientTexts& texts, const LocalTraining& training,
                     const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences) {
  check(training);
  if (training.kind == UpdateKind::gradient)
    fail("a client that cuts and shuffles its texts sends weights, expected no gradient");
  if (training.sampling == Sampling::poisson && texts.sequence != 0)
    fail("a step that draws its texts at random takes them as they are, expected no sequences of a stream");
  if (training.carry_state && texts.sequence == 0)
    fail("a state is carried along a stream of text, expected sequences of it and no single texts");
  std::vector<Sentence> epoch;
  const auto texts_of = [&](std::int64_t number) -> std::span<const Sentence> {
    const Seed seed = training.seed.derive("epoch").derive(static_cast<std::uint64_t>(number));
    epoch = training.carry_state && training.batch > 0
                ? epoch_in_lanes(texts, overlap_for(base), training.batch, seed)
                : epoch_of(texts, overlap_for(base), seed);
    if (number == 0) check(base, epoch);
    return epoch;
  };
  return trained(base, texts_of, texts.size(), training, base_hash, defences);
}

}  // namespace undertext
