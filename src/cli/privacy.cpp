// undertext privacy: what noise is worth, and how much a promise needs.
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "defences/accounting/accountant.h"
#include "defences/accounting/gaussian_dp.h"
#include "defences/dpsgd.h"

namespace undertext {
namespace {

struct Flags {
  std::optional<double> sigma, epsilon, rate;
  std::optional<std::int64_t> steps, examples, batch, epochs, tree;
  std::int64_t restarts = 0;
  std::vector<std::string> phases;
  double delta = 1e-5;
  std::string accountant = "prv", unit;  // empty: as fits the mechanism
  bool json = false;
};

// "sigma=1.1,rate=0.01,steps=1000", in any order, all three of them.
NoisySteps phase_of(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    fail("--phase {}: {}, expected sigma=S,rate=Q,steps=N", quote(text), why);
  };
  std::map<std::string, double> values;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size()), equals = text.find('=', from);
    if (equals >= to) refuse("no value in " + quote(text.substr(from, to - from)));
    const std::string key = text.substr(from, equals - from),
                      value = text.substr(equals + 1, to - equals - 1);
    if (key != "sigma" && key != "rate" && key != "steps") refuse("unknown key " + quote(key));
    std::size_t read = 0;
    double number = 0;
    try {
      number = std::stod(value, &read);
    } catch (const std::exception&) {
      read = 0;
    }
    if (value.empty() || read != value.size() || !std::isfinite(number))
      refuse(quote(value) + " is no number");
    if (!values.emplace(key, number).second) refuse(key + " twice");
    from = to + 1;
  }
  for (const char* key : {"sigma", "rate", "steps"})
    if (!values.contains(key)) refuse(fmt::format("no {}", key));
  const double steps = values.at("steps");
  if (steps != std::floor(steps) || steps < 0 || steps > 1e15)
    refuse(fmt::format("{} steps, expected a whole number", steps));
  return {values.at("sigma"), values.at("rate"), static_cast<std::int64_t>(steps)};
}

// Rate and steps of the flags; sigma is set later.
NoisySteps steps_of(const Flags& flags) {
  const bool by_examples = flags.examples || flags.batch || flags.epochs;
  if (by_examples == (flags.rate || flags.steps))
    fail("{}, expected --rate and --steps, or --examples, --batch and --epochs, or --tree, or --phase",
         by_examples ? "the same said twice" : "no word of how often each unit takes part");
  if (!by_examples) {
    if (!flags.rate || !flags.steps) fail("one of --rate and --steps, expected both");
    return {1, *flags.rate, *flags.steps};
  }
  if (!flags.examples || !flags.batch || !flags.epochs)
    fail("some of --examples, --batch and --epochs, expected all three");
  if (*flags.examples < 1 || *flags.batch < 1 || *flags.batch > *flags.examples || *flags.epochs < 0)
    fail("{} examples, batches of {} and {} epochs, expected at least 1, no larger batches, and at least 0",
         *flags.examples, *flags.batch, *flags.epochs);
  return dpsgd_steps(1, *flags.examples, *flags.batch, *flags.epochs);
}

struct Account {
  Composition steps;
  PrivacyClaim claim;
  std::optional<double> wanted;  // epsilon that the noise was chosen for
};

Composition composition_of(const Flags& flags) {
  const bool one = flags.sigma || flags.epsilon || flags.rate || flags.steps || flags.examples ||
                   flags.batch || flags.epochs;
  if (!flags.phases.empty()) {
    if (one || flags.tree) fail("--phase says it all: expected no other flag of a mechanism beside it");
    Composition steps;
    for (const std::string& phase : flags.phases) steps.push_back(phase_of(phase));
    return steps;
  }
  if (flags.sigma.has_value() == flags.epsilon.has_value())
    fail("{}, expected --sigma for its epsilon, or --epsilon for its noise",
         flags.sigma ? "--sigma and --epsilon" : "no noise and no promise");
  if (!flags.tree) {
    if (flags.restarts != 0) fail("--restarts without --tree, expected the leaves of each tree");
    return {steps_of(flags)};
  }
  if (flags.rate || flags.steps || flags.examples || flags.batch || flags.epochs)
    fail("--tree counts its leaves itself, expected no --rate, --steps, --examples, --batch or --epochs");
  if (*flags.tree < 1 || flags.restarts < 0 || flags.restarts > 1'000'000'000)
    fail("a tree of {} leaves and {} restarts, expected at least 1 and at least 0", *flags.tree,
         flags.restarts);
  return {steps_of_tree(1, *flags.tree, flags.restarts + 1)};
}

Account account_of(const Flags& flags) {
  Account account;
  PrivacyClaim& claim = account.claim;
  claim.accountant = accountant_named(flags.accountant);
  claim.delta = flags.delta;
  check_delta(claim.delta);
  account.steps = composition_of(flags);
  NoisySteps& first = account.steps.front();
  if (flags.sigma) first.sigma = *flags.sigma;
  check_steps(account.steps);
  if (flags.epsilon) {
    account.wanted = flags.epsilon;
    first.sigma = noise_for(*flags.epsilon, first.rate, first.steps, claim.delta, claim.accountant);
  }
  claim.epsilon = epsilon_of(account.steps, claim.delta, claim.accountant);
  claim.approximate = claim.accountant == Accountant::gaussian && !gaussian_mu_exact(account.steps);
  if (flags.tree) claim.trees = NoisyTrees{first.sigma, *flags.tree, flags.restarts + 1};
  claim.unit = !flags.unit.empty() ? flags.unit : flags.tree ? "user" : "example";
  return account;
}

nlohmann::json json_of(const Account& account) {
  const PrivacyClaim& claim = account.claim;
  nlohmann::json phases = nlohmann::json::array();
  bool sampled = false;
  for (const NoisySteps& part : account.steps) {
    phases.push_back({{"sigma", part.sigma}, {"rate", part.rate}, {"steps", part.steps}});
    sampled = sampled || part.rate < 1;
  }
  nlohmann::json result = {
      {"verb", "privacy"},
      {"epsilon", std::isfinite(claim.epsilon) ? nlohmann::json(claim.epsilon) : nlohmann::json()},
      {"delta", claim.delta},
      {"unit", claim.unit},
      {"neighbours", claim.trees ? "replaced by nothing" : "added or removed"},
      {"sampling", claim.trees ? "none, a fixed order"
                   : sampled   ? "poisson"
                               : "none"},
      {"accountant", name_of(claim.accountant)},
      {"approximate", claim.approximate},
      {"phases", std::move(phases)}};
  if (claim.trees)
    result["tree"] = {
        {"sigma", claim.trees->sigma}, {"leaves", claim.trees->leaves}, {"trees", claim.trees->trees}};
  if (account.wanted) result["wanted"] = *account.wanted;
  if (account.steps.size() == 1) result["sigma"] = account.steps.front().sigma;
  return result;
}

std::string text_of(const Account& account) {
  std::string text;
  if (account.wanted)
    text = fmt::format("noise multiplier {:.4g} keeps epsilon within {:.4g}\n\n", account.steps.front().sigma,
                       *account.wanted);
  return text + statement_of(account.claim, account.steps);
}

int run(const Flags& flags) {
  const Account account = account_of(flags);
  flags.json ? print_json(json_of(account)) : print_text(text_of(account));
  return 0;
}

}  // namespace

CLI::App* privacy_app(CLI::App& program) {
  return program.add_subcommand("privacy", "What is noise worth, and how much does a promise need?");
}

Verb privacy_verb(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("--sigma", flags->sigma, "deviation of the noise, over the norm that each part is cut to")
      ->option_text("S");
  app.add_option("--epsilon", flags->epsilon, "in place of --sigma: find the noise that keeps this promise")
      ->option_text("E");
  app.add_option("--rate", flags->rate, "chance of each unit to be in a step")->option_text("Q");
  app.add_option("--steps", flags->steps, "steps in all")->option_text("N");
  app.add_option("--examples", flags->examples, "or: examples that are trained on")->option_text("N");
  app.add_option("--batch", flags->batch, "how many of them a step draws on average")->option_text("B");
  app.add_option("--epochs", flags->epochs, "and how often all are gone through")->option_text("E");
  app.add_option("--tree", flags->tree, "or: DP-FTRL, a tree over so many rounds")->option_text("LEAVES");
  app.add_option("--restarts", flags->restarts, "how often another tree begins (0)")->option_text("R");
  app.add_option("--phase", flags->phases, "or: one of several trainings on the same data; repeat it")
      ->option_text("sigma=S,rate=Q,steps=N")
      ->take_all();
  app.add_option("--delta", flags->delta, "chance that is left out of the promise (1e-5)")->option_text("D");
  app.add_option("--accountant", flags->accountant, "prv, renyi or gaussian (prv)")->option_text("NAME");
  app.add_option("--unit", flags->unit, "whose presence is hidden: example or user")
      ->check(CLI::IsMember({"example", "user"}))
      ->option_text("UNIT");
  app.add_flag("--json", flags->json, "print one JSON object");
  return {&app, [flags] { return run(*flags); }};
}

}  // namespace undertext
