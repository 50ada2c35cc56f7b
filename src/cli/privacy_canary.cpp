// undertext privacy canary: how much privacy a training really gives, measured from below.
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "audit/canary_audit.h"
#include "base/error.h"
#include "cli/defence_flags.h"
#include "cli/output.h"
#include "cli/text_inputs.h"
#include "cli/verb.h"
#include "defences/accounting/noisy_steps.h"
#include "models/load_model.h"

namespace undertext {
namespace {

constexpr int kRefuted = 3;  // exit code

struct Flags {
  std::filesystem::path model;
  TextInputs texts;
  std::string canary;
  std::int64_t words = 5;
  DefenceFlags defences;
  std::optional<double> claim;
  CanaryAuditOptions audit;
  std::uint64_t seed = 1;
  bool train_all = false, json = false;
};

struct Result {
  CanaryAudit audit;
  double upper = 0;
  std::string canary;
  std::int64_t texts = 0, steps = 0;
  bool refuted() const { return audit.lower_bound > upper; }
};

// What the defences promise by the accountant; infinite where they promise nothing.
double promised(const DefencePlan& plan, const LocalTraining& training, const Result& result, double delta) {
  const std::int64_t all = result.texts + 1;
  const auto guarantee = plan.guarantee(PrivateRun{all, training.batch, result.steps, delta});
  if (!guarantee) return std::numeric_limits<double>::infinity();
  if (training.sampling != Sampling::poisson && training.batch != 0 && training.batch < all)
    fail(
        "batches that are taken in order have no known epsilon, expected sampling=poisson of dpsgd, --batch "
        "0 "
        "or --claim");
  return guarantee->claim.epsilon;
}

Result measured(Flags& flags) {
  const DefencePlan plan = flags.defences.plan();
  const ModelFolder folder = load_model_folder(flags.model);
  const Tokenizer& tokenizer = *folder.tokenizer;
  plan.check(DefenceSetting::update, *folder.model, &tokenizer);
  const std::vector<Sentence> texts = plan.texts(flags.texts.read(tokenizer), tokenizer);
  const Seed seed(flags.seed);
  const Sentence canary = flags.canary.empty() ? random_canary(tokenizer, flags.words, seed.derive("canary"))
                                               : tokenizer.encode(flags.canary);
  CanaryAuditOptions& options = flags.audit;
  LocalTraining& training = options.training;
  training.reduction = Reduction::mean;
  training.train_embedding = flags.train_all || folder.model->start_token() == kNoToken;
  plan.apply(training);
  if (training.batch < 0 || training.epochs < 1)
    fail("batches of {} and {} epochs, expected at least 0 and at least 1", training.batch, training.epochs);
  check_delta(options.delta);
  options.seed = seed;
  options.defences = [&plan](Seed own) { return plan.client(own); };
  Result result;
  result.texts = std::ssize(texts);
  result.steps = training.epochs * steps_per_epoch(result.texts + 1, training.batch);
  result.upper = flags.claim ? *flags.claim : promised(plan, training, result, options.delta);
  result.canary = tokenizer.decode(canary);
  result.audit = audit_canary(*folder.model, tokenizer, texts, canary, options);
  return result;
}

nlohmann::json json_of(const PrivacyAudit& audit) {
  const MembershipGuesses& guesses = audit.guesses;
  return {{"lower_bound", audit.lower_bound},
          {"true_positives", guesses.true_positives},
          {"with", guesses.with},
          {"false_positives", guesses.false_positives},
          {"without", guesses.without}};
}

nlohmann::json json_of(const Flags& flags, const Result& result) {
  const CanaryAudit& audit = result.audit;
  return {{"verb", "privacy canary"},
          {"canary", result.canary},
          {"texts", result.texts},
          {"trials", flags.audit.trials},
          {"confidence", flags.audit.confidence},
          {"delta", flags.audit.delta},
          {"defences", flags.defences.plan().text()},
          {"steps", result.steps},
          {"by_loss", json_of(audit.by_loss)},
          {"by_gradient", json_of(audit.by_gradient)},
          {"exposure_with", audit.exposure_with},
          {"exposure_without", audit.exposure_without},
          {"lower_bound", audit.lower_bound},
          {"upper_bound", std::isfinite(result.upper) ? nlohmann::json(result.upper) : nlohmann::json()},
          {"claimed", flags.claim.has_value()},
          {"refuted", result.refuted()}};
}

std::string text_of(const Flags& flags, const Result& result) {
  const CanaryAudit& audit = result.audit;
  const auto guesses = [](const char* name, const PrivacyAudit& one) {
    return fmt::format("{}epsilon above {:.3g}: found in {} of {} runs, false alarm in {} of {}\n", name,
                       one.lower_bound, one.guesses.true_positives, one.guesses.with,
                       one.guesses.false_positives, one.guesses.without);
  };
  const std::string defences = flags.defences.plan().text();
  std::string text = fmt::format(
      "canary:        {}\n"
      "training:      {}, {}\n"
      "defences:      {}\n"
      "runs:          {} with the canary, {} without; half of them choose the threshold\n",
      quote(result.canary), counted(result.texts, "text", "texts"), counted(result.steps, "step", "steps"),
      defences.empty() ? "none" : defences, flags.audit.trials, flags.audit.trials);
  text += guesses("by loss:       ", audit.by_loss) + guesses("by gradient:   ", audit.by_gradient);
  if (flags.audit.references > 0)
    text += fmt::format("exposure:      {:.2f} bits with the canary, {:.2f} without, among {} other texts\n",
                        audit.exposure_with, audit.exposure_without, flags.audit.references);
  text += fmt::format(
      "measured:      epsilon at least {:.4g}, with a confidence of {:.4g}\n{}epsilon at most {:.4g}, delta "
      "{:.3g}\n",
      audit.lower_bound, flags.audit.confidence,
      flags.claim ? "claimed:       " : "accountant:    ", result.upper, flags.audit.delta);
  return text + (result.refuted() ? "the claim is refuted\n" : "the claim is not refuted\n");
}

int run(Flags& flags) {
  if (flags.claim && !(*flags.claim >= 0))
    fail("--claim {}: expected an epsilon of at least 0", *flags.claim);
  const Result result = measured(flags);
  flags.json ? print_json(json_of(flags, result)) : print_text(text_of(flags, result));
  return result.refuted() ? kRefuted : 0;
}

}  // namespace

Verb privacy_canary_verb(CLI::App& privacy) {
  CLI::App* app =
      privacy.add_subcommand("canary", "How much does a training hide? Measured, many times over");
  const auto flags = std::make_shared<Flags>();
  flags->audit.training.batch = 32;
  app->add_option("--model", flags->model, "model folder that is trained")->required()->option_text("DIR");
  flags->texts.add_flags(
      *app, {.texts = "--texts", .ids = "--ids", .purpose = "what is trained on", .required = true});
  app->add_option("--canary", flags->canary, "text that is there or not (random words)")->option_text("TEXT");
  app->add_option("--words", flags->words, "words of a random canary (5)")->option_text("N");
  flags->defences.add_flags(*app);
  app->add_option("--batch", flags->audit.training.batch, "texts a step draws on average; 0: all (32)")
      ->option_text("B");
  app->add_option("--epochs", flags->audit.training.epochs, "epochs (1)")->option_text("E");
  app->add_option("--learning-rate", flags->audit.training.learning_rate, "learning rate (0.001)")
      ->option_text("R");
  app->add_flag("--train-all", flags->train_all, "train the embedding too, where the model would not");
  app->add_option("--claim", flags->claim, "epsilon that is claimed (what the accountant gives)")
      ->option_text("E");
  app->add_option("--trials", flags->audit.trials, "runs with the canary, and as many without (200)")
      ->option_text("N");
  app->add_option("--confidence", flags->audit.confidence, "of the measured bound (0.99)")->option_text("P");
  app->add_option("--references", flags->audit.references,
                  "random texts that the canary is ranked among (255)")
      ->option_text("N");
  app->add_option("--delta", flags->audit.delta, "delta of the claim (1e-5)")->option_text("D");
  app->add_option("--seed", flags->seed, "seed (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  app->footer("Exit code: 0 not refuted, 3 refuted, 2 nothing that can be measured.");
  return {app, [app, flags] {
            for (const CLI::Option* option : app->get_parent()->get_options())
              if (option->count() > 0) fail("{} is no flag of privacy canary", option->get_name());
            return run(*flags);
          }};
}

}  // namespace undertext
