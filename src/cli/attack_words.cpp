// undertext attack words: which words did the client type?
#include <algorithm>
#include <nlohmann/json.hpp>

#include "audit/chosen_attack.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  std::string method, cutoff;  // empty: not given
  std::int64_t tokens = 0;     // 0: not given
};

WordScores scores_of(const WordRecovery& recovery, const AttackInputs& inputs) {
  return score_words(inputs.truth, std::vector<Sentence>{ids_of(recovery)});
}

double counted_share(const WordRecovery& recovery, const AttackInputs& inputs) {
  std::vector<double> counts;
  for (const RecoveredWord& word : recovery.words) counts.push_back(word.count);
  return score_counts(inputs.truth, ids_of(recovery), counts);
}

nlohmann::json json_of(const Flags& flags, const WordRecovery& recovery, const AttackInputs& inputs) {
  nlohmann::json words = nlohmann::json::array();
  for (const RecoveredWord& word : recovery.words) {
    words.push_back({{"id", word.id},
                     {"word", inputs.tokenizer->token(word.id)},
                     {"count", word.count},
                     {"score", word.score}});
  }
  nlohmann::json scores = nlohmann::json::object();
  if (!inputs.truth.empty()) {
    scores = scores_of(recovery, inputs);
    scores["with_counts"] = counted_share(recovery, inputs);
  }
  return {{"attack", "words"},
          {"method", flags.method},
          {"cutoff", flags.cutoff},
          {"rule", recovery.rule},
          {"words", words},
          {"scores", scores},
          {"threat_model", "curious-server"}};
}

std::string text_of(const Flags& flags, const WordRecovery& recovery, const AttackInputs& inputs) {
  std::string text = fmt::format(
      "{} read from {}\n"
      "who reads:  {}\n"
      "update:     {}\n"
      "rule:       {}\n",
      counted(static_cast<std::int64_t>(recovery.words.size()), "word", "words"), flags.update.string(),
      flags.cutoff == "oracle" ? "nobody: the cutoff was chosen with the truth" : threat_model_text(),
      protocol_text(inputs.observation.update.protocol), recovery.rule);
  if (!inputs.truth.empty()) {
    const WordScores scores = scores_of(recovery, inputs);
    text += fmt::format(
        "scores:     F1 {:.4f}, precision {:.4f}, recall {:.4f} ({} true words); with counts {:.4f}\n",
        scores.f1, scores.precision, scores.recall, scores.truth, counted_share(recovery, inputs));
  }
  const std::size_t shown = flags.all ? recovery.words.size() : std::min(recovery.words.size(), kFirstLines);
  if (shown > 0) text += fmt::format("\n  {:>7}  {:>14}  word\n", "count", "bias change");
  for (std::size_t i = 0; i < shown; ++i) {
    const RecoveredWord& word = recovery.words[i];
    text +=
        fmt::format("  {:>7.1f}  {:>14.10f}  {}\n", word.count, word.score, inputs.tokenizer->token(word.id));
  }
  return text + rest_text(recovery.words.size(), shown);
}

int run(Flags flags) {
  // The cutoffs none and oracle belong to the paper's method alone.
  const bool paper_cutoff = flags.cutoff == "none" || flags.cutoff == "oracle";
  if (flags.method == "best" && paper_cutoff)
    fail("--cutoff {}: belongs to --method paper; --method best has a rule of its own", flags.cutoff);
  if (flags.method.empty()) flags.method = paper_cutoff ? "paper" : "best";
  if (flags.cutoff.empty()) flags.cutoff = "auto";
  if (flags.cutoff == "oracle" && !flags.truth.given())
    fail("--cutoff oracle: chooses by the truth, expected --truth or --truth-ids FILE as well");
  const AttackInputs inputs = read_attack_inputs(flags);
  const WordRecovery recovery =
      recover(WordAttack{flags.method, flags.cutoff, flags.tokens}, inputs.observation, inputs.truth);
  flags.json ? print_json(json_of(flags, recovery, inputs)) : print_text(text_of(flags, recovery, inputs));
  return 0;
}

}  // namespace

Verb attack_words_verb(CLI::App& attack) {
  CLI::App* app = attack.add_subcommand("words", "Which words did the client type?");
  const auto flags = std::make_shared<Flags>();
  add_attack_flags(*app, *flags);
  app->add_option("--method", flags->method, "paper or best (best; paper with --cutoff none or oracle)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  app->add_option("--cutoff", flags->cutoff,
                  "none: the sign test; auto: a threshold found without the truth; oracle: the best "
                  "threshold there is, by --truth, which no adversary has (auto)")
      ->check(CLI::IsMember({"none", "oracle", "auto"}))
      ->option_text("NAME");
  app->add_option(
         "--tokens", flags->tokens,
         "transformers, --method paper: tokens of all texts together, if known (texts times the longest)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->option_text("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
