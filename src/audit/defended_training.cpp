#include "audit/defended_training.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "federated/federation.h"
#include "models/language_model.h"

namespace undertext {

namespace {

DefencePlan with_noise_factor(const DefencePlan& plan, double factor) {
  std::vector<DefenceSpec> specs = plan.specs();
  for (DefenceSpec& spec : specs)
    if (spec.kind == "noise-on-result") spec.values["sigma"] = spec.number("sigma") * factor;
  return DefencePlan(std::move(specs));
}

}  // namespace

double perplexity_under(const DefencePlan& given, const ModelFolder& start, std::span<const Sentence> texts,
                        std::span<const Sentence> held_out, const DefendedTraining& training) {
  const DefencePlan plan = with_noise_factor(given, training.noise_factor);
  FederationParties parties;
  parties.model = start.model;
  const auto clients = std::min<std::size_t>(static_cast<std::size_t>(training.clients), texts.size());
  const std::size_t each = texts.size() / clients;
  for (std::size_t c = 0; c < clients; ++c) {
    const std::span<const Sentence> own = texts.subspan(c * each, each);
    parties.clients.push_back({plan.texts({own.begin(), own.end()}, *start.tokenizer), 0});
  }
  parties.defences = [&plan](std::int64_t, Seed seed) { return plan.client(seed); };
  FederationOptions options;
  options.rounds = training.rounds;
  options.selection.per_round = static_cast<std::int64_t>(clients);
  options.local = training.local;
  options.local.kind = UpdateKind::weights;
  plan.apply(options.local);
  options.seed = Seed(training.seed).derive("utility");
  const auto trainers = thread_trainers(parties, options);
  FederationServer server(parties, options, *trainers);
  try {
    while (!server.ended()) server.round();
  } catch (const UserError&) {
    if (plan.none()) throw;  // then it is not the defence
    return std::numeric_limits<double>::infinity();
  }
  return perplexity(*server.progress().model, held_out);
}

std::map<std::string, double> perplexities_under(std::span<const DefencePlan> plans, const ModelFolder& start,
                                                 std::span<const Sentence> texts,
                                                 std::span<const Sentence> held_out,
                                                 const DefendedTraining& training) {
  std::vector<double> each(plans.size());
  {
    Progress progress("measuring what defences cost", std::ssize(plans), "trainings");
    parallel_for(std::ssize(plans), [&](std::int64_t i) {
      const auto p = static_cast<std::size_t>(i);
      each[p] = perplexity_under(plans[p], start, texts, held_out, training);
      progress.advance(1, plans[p].text());
    });
  }
  std::map<std::string, double> all;
  for (std::size_t p = 0; p < plans.size(); ++p) all[plans[p].text()] = each[p];
  return all;
}

}  // namespace undertext
