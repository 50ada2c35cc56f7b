// undertext attack dlg, undertext attack tag: invent texts until their gradient is the client's.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "attacks/gradient_matching.h"
#include "audit/chosen_attack.h"
#include "audit/message_pairs.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "metrics/rouge.h"
#include "metrics/sentence_scores.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  MatchingAttack attack;
};

nlohmann::json scores_of(const SentenceRecovery& recovery, const AttackInputs& inputs) {
  const std::vector<Sentence> found = sentences_of(recovery);
  nlohmann::json scores = score_sentences(inputs.truth, found);
  const nlohmann::json rouge =
      score_rouge(texts_of(inputs.truth, *inputs.tokenizer), texts_of(found, *inputs.tokenizer));
  scores.update(rouge);
  return scores;
}

nlohmann::json json_of(const Flags& flags, const SentenceRecovery& recovery, const AttackInputs& inputs) {
  nlohmann::json sentences = nlohmann::json::array();
  for (const RecoveredSentence& sentence : recovery.sentences)
    sentences.push_back({{"text", inputs.tokenizer->decode(sentence.words)}, {"ids", sentence.words}});
  return {{"attack", flags.attack.method},
          {"labels", flags.attack.labels},
          {"bag", flags.attack.bag},
          {"oracle", flags.attack.oracle()},
          {"sentences", sentences},
          {"residual", recovery.residual},
          {"scores", inputs.truth.empty() ? nlohmann::json::object() : scores_of(recovery, inputs)},
          {"threat_model", "curious-server"}};
}

std::string text_of(const Flags& flags, const SentenceRecovery& recovery, const AttackInputs& inputs) {
  std::string text = fmt::format(
      "{} read from {}\n"
      "who reads:  {}\n"
      "update:     {}\n"
      "matched:    all but {:.2g} of the gradient's squared size\n",
      counted(static_cast<std::int64_t>(recovery.sentences.size()), "text", "texts"), flags.update.string(),
      flags.attack.oracle() ? "nobody: part of the truth was given" : threat_model_text(),
      protocol_text(inputs.observation.update.protocol), recovery.residual);
  if (!inputs.truth.empty()) {
    const nlohmann::json scores = scores_of(recovery, inputs);
    text += fmt::format("scores:     ROUGE-1 {:.3f}, ROUGE-2 {:.3f}, ROUGE-L {:.3f}; exact {:.3f}\n",
                        scores.at("rouge_1").get<double>(), scores.at("rouge_2").get<double>(),
                        scores.at("rouge_l").get<double>(), scores.at("exact").get<double>());
  }
  const std::size_t total = recovery.sentences.size();
  const std::size_t shown = flags.all ? total : std::min(total, kFirstLines);
  text += "\n";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("  {}\n", inputs.tokenizer->decode(recovery.sentences[i].words));
  return text + rest_text(total, shown);
}

int run(Flags flags) {
  flags.attack.count = flags.count;
  if (flags.attack.oracle() && !flags.truth.given())
    fail("--labels known and --bag truth need the truth, expected --truth FILE as well");
  const AttackInputs inputs = read_attack_inputs(flags);
  const SentenceRecovery recovery = recover(flags.attack, inputs.observation, inputs.truth);
  flags.json ? print_json(json_of(flags, recovery, inputs)) : print_text(text_of(flags, recovery, inputs));
  return 0;
}

}  // namespace

Verb attack_matching_verb(CLI::App& attack, const std::string& method) {
  const bool dlg = method == "dlg";
  CLI::App* app =
      attack.add_subcommand(method, dlg ? "Match the gradient by invented texts (DLG, with L-BFGS)"
                                        : "Match the gradient by invented texts (TAG, with Adam)");
  const auto flags = std::make_shared<Flags>();
  flags->attack.method = method;
  flags->attack.progress = true;
  add_attack_flags(*app, *flags);
  MatchingAttack& to = flags->attack;
  app->add_option("--labels", to.labels,
                  "what the texts predict: optimised with them, recovered from the update as a bag, or known "
                  "(by --truth, which no adversary has) (optimised)")
      ->check(CLI::IsMember({"optimised", "recovered", "known"}))
      ->option_text("NAME");
  app->add_option(
         "--bag", to.bag,
         "a bag of words as prior: none, recovered from the update, or truth, which no adversary has "
         "(none)")
      ->check(CLI::IsMember({"none", "recovered", "truth"}))
      ->option_text("NAME");
  app->add_option("--length", to.length, "tokens per text (as the position embedding's gradient shows)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->option_text("L");
  app->add_option("--iterations", to.iterations,
                  dlg ? "steps of an attempt (300)" : "steps of an attempt (1000)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->option_text("N");
  app->add_option("--restarts", to.restarts, "attempts; the one that matches best is the answer (1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}))
      ->option_text("N");
  app->add_option("--step-size", to.step_size,
                  dlg ? "of L-BFGS (1)" : "of Adam, in units of what the first layer sees (0.1)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("RATE");
  if (!dlg)
    app->add_option("--alpha", to.alpha, "weight of the absolute distance (0.01)")
        ->check(CLI::Range(0.0, 1e6))
        ->option_text("A");
  app->add_option("--seed", to.seed, "seed of the first guess (1)")->option_text("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
