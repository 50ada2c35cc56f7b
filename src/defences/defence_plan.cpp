#include "defences/defence_plan.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "defences/clipping.h"
#include "defences/dp_fed_avg.h"
#include "defences/dp_ftrl.h"
#include "defences/dpsgd.h"
#include "defences/noise.h"
#include "defences/perturbed_embedding.h"
#include "defences/pruning.h"
#include "defences/redaction.h"
#include "defences/secure_aggregation/secure_averaging.h"

namespace undertext {
namespace {

using ClientDefences = std::vector<std::shared_ptr<const ClientDefence>>;

// Noise after clipping, where the defence has both.
template <typename Noise>
void add_noise(const DefenceSpec& spec, Seed seed, ClientDefences& all) {
  if (spec.number("clip") > 0) all.push_back(std::make_shared<Clipping>(spec.number("clip")));
  if (spec.number("sigma") > 0)
    all.push_back(
        std::make_shared<Noise>(spec.number("sigma"), seed,
                                spec.text("noise") == "laplace" ? NoiseKind::laplace : NoiseKind::gaussian));
}

void add_client(const DefenceSpec& spec, Seed seed, ClientDefences& all) {
  const std::string& kind = spec.kind;
  if (kind == "clipping") all.push_back(std::make_shared<Clipping>(spec.number("clip")));
  if (kind == "noise-per-step") add_noise<NoisePerStep>(spec, seed, all);
  if (kind == "noise-on-result") add_noise<NoiseOnResult>(spec, seed, all);
  if (kind == "dpsgd")
    all.push_back(std::make_shared<DpSgd>(spec.number("clip"), spec.number("sigma"), seed));
  if (kind == "pruning")
    all.push_back(std::make_shared<Pruning>(
        spec.number("share"), spec.text("scope") == "all" ? PruningScope::all : PruningScope::each));
  if (kind == "noised-embedding")
    all.push_back(std::make_shared<NoisedEmbedding>(spec.number("sigma"), spec.text("where") == "weights"
                                                                              ? EmbeddingNoise::weights
                                                                              : EmbeddingNoise::output));
  if (kind == "dropout-embedding") all.push_back(std::make_shared<DropoutEmbedding>(spec.number("rate")));
  if (kind == "adversarial-embedding")
    all.push_back(std::make_shared<AdversarialEmbedding>(spec.number("magnitude")));
  if (kind == "lstm-dropout") all.push_back(std::make_shared<LayerDropout>(spec.number("rate")));
}

bool perturbs(const std::string& kind) {
  return kind == "noised-embedding" || kind == "dropout-embedding" || kind == "adversarial-embedding" ||
         kind == "lstm-dropout";
}

std::optional<std::string> obstacle_of(const DefenceSpec& spec, DefenceSetting setting,
                                       const LanguageModel& model, const Tokenizer* tokenizer) {
  const std::string& kind = spec.kind;
  if (setting != DefenceSetting::federation && (kind == "dp-fedavg" || kind == "dp-ftrl"))
    return "the server adds the noise after it has seen the updates: it shields clients from each other and "
           "from who uses the model, not from the server; expected a federation of many rounds";
  if (kind == "secure-aggregation" &&
      (setting == DefenceSetting::update || setting == DefenceSetting::training))
    return "the sum of one client's update is that update, expected several clients";
  if (kind == "noise-on-result" && setting == DefenceSetting::training)
    return "nothing is sent before the training ends, expected noise-per-step";
  if (kind == "characters")
    return fmt::format(
        "a {} keeps the tokens that it was made with, expected a model of characters in its "
        "place",
        model.kind());
  if (kind == "vocabulary" && tokenizer != nullptr && !tokenizer->special().unknown)
    return "the model's tokenizer has no token for unknown words, expected one that words can become";
  if (kind == "frozen-embedding" && model.trainable(true) == model.trainable(false))
    return fmt::format("a {} has no embedding that could stay as it is", model.kind());
  if (perturbs(kind) && model.kind() != "char-lstm")
    return fmt::format("a {} cannot perturb its own embedding while it trains, expected a char-lstm",
                       model.kind());
  return std::nullopt;
}

}  // namespace

DefencePlan::DefencePlan(std::vector<DefenceSpec> specs) : specs_(std::move(specs)) {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (specs_[i].kind == specs_[j].kind)
        fail("{}: given twice, expected each defence once", specs_[i].kind);
  std::vector<std::string> summing;
  for (const char* kind : {"secure-aggregation", "dp-fedavg", "dp-ftrl"})
    if (find(kind) != nullptr) summing.emplace_back(kind);
  if (summing.size() > 1)
    fail("{}: each puts a round's updates together in its own way, expected one of them",
         fmt::join(summing, " and "));
  client(Seed(1));  // refuses what is out of range
}

DefencePlan DefencePlan::parse(std::span<const std::string> texts) {
  std::vector<DefenceSpec> specs;
  for (const std::string& text : texts) specs.push_back(parse_defence(text));
  return DefencePlan(std::move(specs));
}

const DefenceSpec* DefencePlan::find(std::string_view kind) const {
  const auto found = std::ranges::find(specs_, kind, &DefenceSpec::kind);
  return found == specs_.end() ? nullptr : &*found;
}

std::string DefencePlan::text() const {
  std::vector<std::string> all;
  for (const DefenceSpec& spec : specs_) all.push_back(text_of(spec));
  return fmt::format("{}", fmt::join(all, " "));
}

ClientDefences DefencePlan::client(Seed seed) const {
  ClientDefences all;
  for (const DefenceSpec& spec : specs_) add_client(spec, seed, all);
  return all;
}

void DefencePlan::apply(LocalTraining& training) const {
  if (find("frozen-embedding") != nullptr) training.train_embedding = false;
  const DefenceSpec* dpsgd = find("dpsgd");
  if (dpsgd != nullptr && dpsgd->text("sampling") == "poisson") training.sampling = Sampling::poisson;
}

std::vector<Sentence> DefencePlan::texts(std::vector<Sentence> own, const Tokenizer& tokenizer) const {
  const DefenceSpec* vocabulary = find("vocabulary");
  if (vocabulary == nullptr) return own;
  return redacted(std::move(own), static_cast<std::int64_t>(vocabulary->number("words")), tokenizer);
}

std::optional<std::string> DefencePlan::obstacle(DefenceSetting setting, const LanguageModel& model,
                                                 const Tokenizer* tokenizer) const {
  for (const DefenceSpec& spec : specs_)
    if (auto why = obstacle_of(spec, setting, model, tokenizer)) return spec.kind + ": " + *why;
  return std::nullopt;
}

void DefencePlan::check(DefenceSetting setting, const LanguageModel& model,
                        const Tokenizer* tokenizer) const {
  if (const auto why = obstacle(setting, model, tokenizer)) fail("{}", *why);
}

DefencePlan::Averagings DefencePlan::averaging(const FederationRun& run, Seed seed) const {
  if (find("secure-aggregation") != nullptr)
    return [seed](std::int64_t round) {
      return std::make_unique<SecureAveraging>(
          seed.derive("secure aggregation").derive(static_cast<std::uint64_t>(round)));
    };
  const auto clients = static_cast<double>(run.selection.per_round);
  if (const DefenceSpec* spec = find("dp-fedavg")) {
    dp_fed_avg_steps(spec->number("sigma"), run.selection, run.clients, run.rounds);
    const DpFedAvgOptions options{spec->number("clip"), spec->number("sigma"), clients};
    return [options, seed](std::int64_t round) { return std::make_unique<DpFedAvg>(options, round, seed); };
  }
  if (const DefenceSpec* spec = find("dp-ftrl")) {
    const DpFtrlOptions options{spec->number("clip"), spec->number("sigma"), clients};
    return [options, seed, trees = tree_plan(run.selection, run.clients, run.rounds)](std::int64_t round) {
      return std::make_unique<DpFtrl>(options, trees, round, seed);
    };
  }
  return {};
}

std::optional<Guarantee> DefencePlan::guarantee(const FederationRun& run, double delta) const {
  Composition composition;
  PrivacyClaim claim;
  if (const DefenceSpec* spec = find("dp-fedavg"); spec != nullptr && spec->number("sigma") > 0)
    composition = {dp_fed_avg_steps(spec->number("sigma"), run.selection, run.clients, run.rounds)};
  if (const DefenceSpec* spec = find("dp-ftrl"); spec != nullptr && spec->number("sigma") > 0) {
    const TreePlan trees = tree_plan(run.selection, run.clients, run.rounds);
    composition = dp_ftrl_steps(spec->number("sigma"), trees);
    claim.trees =
        NoisyTrees{spec->number("sigma"), *std::ranges::max_element(trees.leaves), std::ssize(trees.leaves)};
  }
  if (composition.empty()) return std::nullopt;
  claim.delta = delta;
  claim.unit = "user";
  claim.epsilon = epsilon_of(composition, delta, claim.accountant);
  return Guarantee{claim, statement_of(claim, composition)};
}

std::optional<Guarantee> DefencePlan::guarantee(const PrivateRun& run) const {
  const DefenceSpec* dpsgd = find("dpsgd");
  if (dpsgd == nullptr || !(dpsgd->number("sigma") > 0) || run.texts == 0 || run.steps == 0)
    return std::nullopt;
  const std::int64_t batch = run.batch == 0 ? run.texts : std::min(run.batch, run.texts);
  const Composition composition = {
      {dpsgd->number("sigma"), static_cast<double>(batch) / static_cast<double>(run.texts), run.steps}};
  PrivacyClaim claim;
  claim.delta = run.delta;
  claim.epsilon = epsilon_of(composition, run.delta, claim.accountant);
  std::string statement = statement_of(claim, composition);
  if (batch < run.texts && dpsgd->text("sampling") != "poisson")
    statement +=
        "here:             batches are taken in order, which is not covered either; sampling=poisson is\n";
  return Guarantee{claim, std::move(statement)};
}

}  // namespace undertext
