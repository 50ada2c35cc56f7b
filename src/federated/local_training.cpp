#include "federated/local_training.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "federated/step_gradient.h"

namespace undertext {
namespace {

void check(const LocalTraining& training, std::span<const Sentence> sentences) {
  if (training.epochs < 1) fail("epochs: {} given, expected at least 1", training.epochs);
  if (training.batch < 0) fail("batch: {} given, expected at least 0 (0: all sentences)", training.batch);
  if (!(training.learning_rate > 0) || !std::isfinite(training.learning_rate))
    fail("learning rate: {} given, expected a positive number", training.learning_rate);
  if (std::all_of(sentences.begin(), sentences.end(), [](const Sentence& s) { return s.empty(); }))
    fail("the texts hold no word to train on");
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

class Client {
 public:
  Client(LanguageModel& model, const LocalTraining& training,
         std::span<const std::shared_ptr<const ClientDefence>> defences)
      : model_(model),
        training_(training),
        defences_(defences),
        names_(model.trainable(training.train_embedding)),
        gradient_wanted_(training.kind == UpdateKind::gradient || act_on_steps(defences)) {}

  // theta <- theta - lr * gradient (Algorithm 1), the gradient as the defences leave it (Algorithm 3).
  void step(std::span<const Sentence> batch) {
    prepare();
    if (gradient_wanted_) {
      for (const auto& [name, g] : defended_gradient(batch)) {
        at::Tensor parameter = model_.parameters().at(name);
        parameter.sub_(g, training_.learning_rate);
      }
    } else {
      const double weight = weight_of(model_, batch, training_.reduction);
      check_loss(model_.descend(batch, training_.learning_rate * weight, names_), step_);
    }
    ++step_;
  }

  // The gradient of the first step, as the defences leave it.
  NamedTensors gradient(std::span<const Sentence> batch) {
    prepare();
    return defended_gradient(batch);
  }

  NamedTensors weights() const {
    NamedTensors result;
    for (const std::string& name : names_) result[name] = model_.parameters().at(name);
    return result;
  }

 private:
  // Dropout and hidden words are drawn anew for every step.
  void prepare() {
    const Seed seed = training_.seed.derive("step").derive(static_cast<std::uint64_t>(step_));
    model_.randomise(training_.dropout ? std::optional(seed) : std::nullopt);
  }

  NamedTensors& defended_gradient(std::span<const Sentence> batch) {
    if (gradient_.empty())
      for (const std::string& name : names_) gradient_[name] = at::zeros_like(model_.parameters().at(name));
    check_loss(step_gradient(model_, batch, training_.reduction, defences_, step_, gradient_), step_);
    return gradient_;
  }

  LanguageModel& model_;
  const LocalTraining& training_;
  std::span<const std::shared_ptr<const ClientDefence>> defences_;
  std::vector<std::string> names_;
  bool gradient_wanted_;
  NamedTensors gradient_;
  std::int64_t step_ = 0;
};

}  // namespace

Update train_locally(const LanguageModel& base, std::span<const Sentence> sentences,
                     const LocalTraining& training, const std::string& base_hash,
                     std::span<const std::shared_ptr<const ClientDefence>> defences) {
  check(training, sentences);
  const auto count = static_cast<std::int64_t>(sentences.size());
  const std::int64_t batch = training.batch == 0 ? count : std::min(training.batch, count);
  if (training.kind == UpdateKind::gradient && (training.epochs != 1 || batch != count))
    fail("a client that sends its gradient takes one step: expected 1 epoch and one batch, not {} and {}",
         training.epochs, training.batch);

  base.check(sentences, "the client's texts");
  if (base.predicted(sentences) == 0) fail("the texts hold no word that the model would predict");
  const std::unique_ptr<LanguageModel> model = base.clone();
  if (training.zero_output_bias) zero_output_bias(*model);
  Client client(*model, training, defences);
  NamedTensors before;  // what a delta is measured from
  if (training.kind == UpdateKind::delta)
    for (const auto& [name, tensor] : model->parameters()) before[name] = tensor.clone();
  Update update;
  if (training.kind == UpdateKind::gradient) {
    update.tensors = client.gradient(sentences);
  } else {
    for (std::int64_t epoch = 0; epoch < training.epochs; ++epoch)
      for (std::int64_t first = 0; first < count; first += batch)
        client.step(sentences.subspan(static_cast<std::size_t>(first),
                                      static_cast<std::size_t>(std::min(batch, count - first))));
    update.tensors = client.weights();
  }
  if (training.kind == UpdateKind::delta)
    for (auto& [name, tensor] : update.tensors) tensor = tensor - before.at(name);
  for (const auto& defence : defences) defence->on_result(update.tensors);
  update.protocol = {training.kind, training.learning_rate, training.epochs,           training.batch,
                     count,         training.reduction,     training.zero_output_bias, base_hash};
  return update;
}

}  // namespace undertext
