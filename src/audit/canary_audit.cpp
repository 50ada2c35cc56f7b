#include "audit/canary_audit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

struct RunStatistics {
  double loss = 0, gradient = 0, exposure = 0;
};

double nll_of(const LanguageModel& model, const Sentence& text) {
  return model.negative_log_likelihood({&text, 1}).front();
}

class Runs {
 public:
  Runs(const LanguageModel& model, const Tokenizer& tokenizer, std::span<const Sentence> texts,
       const Sentence& canary, const CanaryAuditOptions& options)
      : model_(model), options_(options), canary_(canary), texts_(texts.begin(), texts.end()) {
    texts_.emplace_back();
    for (const std::string& name : model.trainable(options.training.train_embedding))
      gradient_[name] = at::zeros_like(model.parameters().at(name));
    before_ = model.add_gradient({&canary, 1}, 1, gradient_);
    for (std::int64_t i = 0; i < options.references; ++i)
      references_.push_back(
          random_canary(tokenizer, std::ssize(canary),
                        options.seed.derive("reference").derive(static_cast<std::uint64_t>(i))));
  }

  RunStatistics run(bool with_canary, Seed seed) const {
    std::vector<Sentence> texts = texts_;
    if (with_canary) texts.back() = canary_;
    LocalTraining training = options_.training;
    training.kind = UpdateKind::weights;
    training.seed = seed.derive("training");
    std::vector<std::shared_ptr<const ClientDefence>> defences;
    if (options_.defences) defences = options_.defences(seed.derive("defence"));
    const NamedTensors after = train_locally(model_, texts, training, "", defences).tensors;
    RunStatistics result;
    for (const auto& [name, gradient] : gradient_) {
      const at::Tensor moved = model_.parameters().at(name).to(at::kDouble) - after.at(name).to(at::kDouble);
      result.gradient += (moved * gradient.to(at::kDouble)).sum().item<double>();
    }
    const std::unique_ptr<const LanguageModel> trained = model_.with(after);
    const double now = nll_of(*trained, canary_);
    result.loss = before_ - now;
    if (!references_.empty())
      result.exposure = exposure_of(rank_among(now, trained->negative_log_likelihood(references_)),
                                    std::ssize(references_));
    return result;
  }

 private:
  const LanguageModel& model_;
  const CanaryAuditOptions& options_;
  const Sentence& canary_;
  std::vector<Sentence> texts_, references_;
  NamedTensors gradient_;  // of the canary's loss, under the model before
  double before_ = 0;      // that loss
};

}  // namespace

Sentence random_canary(const Tokenizer& tokenizer, std::int64_t words, Seed seed) {
  const SpecialTokens names = tokenizer.special();
  const std::set<std::optional<Token>> special = {names.start, names.end, names.unknown, names.mask,
                                                  names.padding};
  std::vector<Token> plain;
  for (Token id = 0; id < tokenizer.size(); ++id)
    if (!special.contains(id)) plain.push_back(id);
  if (plain.empty() || words < 1) fail("a canary of {} words, expected at least 1 of a vocabulary", words);
  Random random(seed);
  Sentence text;
  while (std::ssize(text) < words)
    text.push_back(plain[static_cast<std::size_t>(random.below(plain.size()))]);
  return text;
}

CanaryAudit audit_canary(const LanguageModel& model, const Tokenizer& tokenizer,
                         std::span<const Sentence> texts, const Sentence& canary,
                         const CanaryAuditOptions& options) {
  if (options.trials < 4) fail("{} runs of each kind, expected at least 4", options.trials);
  if (!(options.confidence > 0 && options.confidence < 1))
    fail("confidence: {} given, expected a number between 0 and 1", options.confidence);
  if (!(options.delta >= 0 && options.delta < 1))
    fail("delta: {} given, expected a number from 0 to 1", options.delta);
  if (options.references < 0) fail("{} references, expected at least 0", options.references);
  model.check({&canary, 1}, "the canary");
  if (model.predicted({&canary, 1}) == 0) fail("the canary has no word that the model would predict");
  const Runs runs(model, tokenizer, texts, canary, options);
  const auto n = static_cast<std::size_t>(options.trials);
  std::vector<RunStatistics> all(2 * n);  // with, then without
  parallel_for(2 * options.trials, [&](std::int64_t i) {
    const bool there = i < options.trials;
    const Seed seed = options.seed.derive(there ? "with" : "without")
                          .derive(static_cast<std::uint64_t>(i % options.trials));
    all[static_cast<std::size_t>(i)] = runs.run(there, seed);
  });
  // Two looks at the same runs: each is allowed half of the chance to be wrong.
  const double each = 1 - (1 - options.confidence) / 2;
  const auto audited = [&](double RunStatistics::*statistic) {
    std::vector<double> values;
    for (const RunStatistics& run : all) values.push_back(run.*statistic);
    return audit_of(std::span(values).first(n), std::span(values).subspan(n), options.delta, each);
  };
  CanaryAudit audit{audited(&RunStatistics::loss), audited(&RunStatistics::gradient)};
  audit.lower_bound = std::max(audit.by_loss.lower_bound, audit.by_gradient.lower_bound);
  for (std::size_t i = 0; i < all.size(); ++i)
    (i < n ? audit.exposure_with : audit.exposure_without) += all[i].exposure / static_cast<double>(n);
  return audit;
}

}  // namespace undertext
