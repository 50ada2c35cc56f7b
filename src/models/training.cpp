#include "models/training.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "models/checkpoint.h"

namespace undertext {
namespace {

constexpr auto kBetweenCheckpoints = std::chrono::seconds(30);

void shuffle(std::vector<Sentence>& sentences, Random random) {
  for (std::size_t i = sentences.size(); i > 1; --i)
    std::swap(sentences[i - 1], sentences[static_cast<std::size_t>(random.below(i))]);
}

// A name for everything that determines the result.
std::string recipe_of(const LanguageModel& model, std::span<const Sentence> sentences,
                      std::span<const Sentence> held_out, const Training& training, Seed seed) {
  Sha256 hash;
  hash.add_string(hash_of(model.parameters()));
  for (const std::span<const Sentence> texts : {sentences, held_out})
    for (const Sentence& sentence : texts) {
      hash.add_number(sentence.size());
      hash.add(sentence.data(), sentence.size() * sizeof(Token));
    }
  const AdamOptions& adam = training.adam;
  hash.add_string(fmt::format("{} {} {} {} {} {} {} {} {} {}", training.epochs, training.batch,
                              training.learning_rate, training.patience, adam.beta1, adam.beta2, adam.epsilon,
                              adam.clip, adam.weight_decay, seed.value()));
  if (!training.train_embedding || training.stop_after > 0 || !training.gradient_name.empty())
    hash.add_string(
        fmt::format("{} {} {}", training.train_embedding, training.stop_after, training.gradient_name));
  if (std::isfinite(adam.clip_value)) hash.add_string(fmt::format("{}", adam.clip_value));
  return hash.hex();
}

void copy_into(const NamedTensors& from, const NamedTensors& to, const std::filesystem::path& file) {
  for (const auto& [name, tensor] : to) {
    const auto found = from.find(name);
    if (found == from.end() || found->second.sizes() != tensor.sizes())
      fail("{}: tensor {} is missing or has another shape", file.string(), quote(name));
    at::Tensor handle = tensor;
    handle.copy_(found->second);
  }
}

NamedTensors copies_of(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors) copies[name] = tensor.clone();
  return copies;
}

class Run {
 public:
  Run(LanguageModel& model, std::span<const Sentence> sentences, std::span<const Sentence> held_out,
      const Training& training, Seed seed)
      : model_(model),
        held_out_(held_out),
        training_(training),
        seed_(seed),
        order_(sentences.begin(), sentences.end()),
        batch_(static_cast<std::size_t>(training.batch)),
        batches_(static_cast<std::int64_t>((order_.size() + batch_ - 1) / batch_)),
        adam_(model, training.adam, model.trainable(training.train_embedding), training.gradient),
        saved_(std::chrono::steady_clock::now()) {
    if (training.checkpoint.empty()) return;
    state_.recipe = recipe_of(model, sentences, held_out, training, seed);
    resume();
  }

  TrainingResult train(const std::function<void(std::int64_t)>& after_step) {
    const std::int64_t total = training_.epochs * batches_;
    Progress progress(training_.title, total, "steps", Progress::Elsewhere::log);
    progress.advance(state_.step);
    for (; result_.epochs < training_.epochs && !result_.stopped_early; ++result_.epochs) {
      shuffle(order_, Random(seed_.derive("order").derive(static_cast<std::uint64_t>(result_.epochs))));
      const std::int64_t last = (result_.epochs + 1) * batches_;
      if (state_.step >= last) continue;  // done before the interruption; the order builds on all before it
      while (state_.step < last && !stopped()) {
        step(total);
        progress.advance(1, note());
        try {
          if (after_step) after_step(state_.step);
        } catch (...) {
          save();
          throw;
        }
        save_now_and_then();
      }
      if (stopped()) {
        ++result_.epochs;
        break;
      }
      end_of_epoch();
    }
    result_.steps = state_.step;
    model_.randomise(std::nullopt);
    if (!state_.best.empty() && !stopped()) copy_into(state_.best, model_.parameters(), training_.checkpoint);
    result_.perplexity = perplexity(model_, held_out_);
    if (!training_.checkpoint.empty()) std::filesystem::remove(training_.checkpoint);
    return result_;
  }

 private:
  void step(std::int64_t total) {
    const auto first = static_cast<std::size_t>(state_.step % batches_) * batch_;
    const auto texts =
        std::span<const Sentence>(order_).subspan(first, std::min(batch_, order_.size() - first));
    model_.randomise(seed_.derive("step").derive(static_cast<std::uint64_t>(state_.step)));
    const double left = 1 - static_cast<double>(state_.step) / static_cast<double>(total);
    const double loss = adam_.step(texts, training_.learning_rate * left);
    state_.smooth_loss = state_.step == 0 ? loss : 0.95 * state_.smooth_loss + 0.05 * loss;
    ++state_.step;
  }

  bool stopped() const { return training_.stop_after > 0 && state_.step >= training_.stop_after; }

  std::string note() const {
    std::string text =
        fmt::format("loss {:.3f}, perplexity {:.1f}", state_.smooth_loss, std::exp(state_.smooth_loss));
    if (std::isfinite(state_.best_perplexity))
      text += fmt::format(", held out {:.1f}", state_.best_perplexity);
    return text;
  }

  void end_of_epoch() {
    if (training_.patience == 0) return;
    model_.randomise(std::nullopt);
    const double now = perplexity(model_, held_out_);
    if (now < state_.best_perplexity) {
      state_.best_perplexity = now;
      state_.best = copies_of(model_.parameters());
      state_.epochs_since_best = 0;
    } else {
      result_.stopped_early = ++state_.epochs_since_best >= training_.patience;
    }
  }

  // Never at the end of an epoch, whose held-out perplexity is still to come.
  void save() {
    if (training_.checkpoint.empty() || state_.step % batches_ == 0) return;
    state_.weights = model_.parameters();
    state_.means = adam_.means();
    state_.squares = adam_.squares();
    save_checkpoint(state_, training_.checkpoint);
    saved_ = std::chrono::steady_clock::now();
  }

  void save_now_and_then() {
    if (std::chrono::steady_clock::now() - saved_ >= kBetweenCheckpoints) save();
  }

  void resume() {
    const std::optional<Checkpoint> found = load_checkpoint(training_.checkpoint, state_.recipe);
    if (!found) return;
    copy_into(found->weights, model_.parameters(), training_.checkpoint);
    copy_into(found->means, adam_.means(), training_.checkpoint);
    copy_into(found->squares, adam_.squares(), training_.checkpoint);
    adam_.set_steps(found->step);
    state_ = *found;
    state_.best = copies_of(found->best);
    result_.resumed_at = found->step;
  }

  LanguageModel& model_;
  std::span<const Sentence> held_out_;
  const Training& training_;
  Seed seed_;
  std::vector<Sentence> order_;
  std::size_t batch_;
  std::int64_t batches_;
  Adam adam_;
  Checkpoint state_;  // its weights and moments are filled in when it is saved
  TrainingResult result_;
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace

TrainingResult train_model(LanguageModel& model, std::span<const Sentence> sentences,
                           std::span<const Sentence> held_out, const Training& training, Seed seed,
                           const std::function<void(std::int64_t)>& after_step) {
  UNDERTEXT_CHECK(training.epochs > 0 && training.batch > 0 && !sentences.empty());
  return Run(model, sentences, held_out, training, seed).train(after_step);
}

}  // namespace undertext
