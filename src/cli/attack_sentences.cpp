// undertext attack sentences: what did the client write?
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/chosen_attack.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "metrics/sentence_scores.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  std::string method = "best", scale = "auto";
  std::int64_t length = 0;  // 0: not given
};

std::optional<double> scale_of(const Flags& flags) {
  if (flags.scale == "auto") return std::nullopt;
  double value = 0;
  const char* end = flags.scale.data() + flags.scale.size();
  const auto [stop, error] = std::from_chars(flags.scale.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value < 0)
    fail("--scale: {} given, expected auto or a number of at least 0", quote(flags.scale));
  if (flags.method != "paper") fail("--scale {}: belongs to --method paper", flags.scale);
  return value;
}

SentenceAttack attack_of(const Flags& flags) {
  return {.method = flags.method, .length = flags.length, .count = flags.count, .scale = scale_of(flags)};
}

SentenceScores scores_of(const SentenceRecovery& recovery, const AttackInputs& inputs) {
  return score_sentences(inputs.truth, sentences_of(recovery));
}

nlohmann::json json_of(const Flags& flags, const SentenceRecovery& recovery, const AttackInputs& inputs) {
  nlohmann::json sentences = nlohmann::json::array();
  for (const RecoveredSentence& sentence : recovery.sentences) {
    sentences.push_back({{"text", inputs.tokenizer->decode(sentence.words)},
                         {"ids", sentence.words},
                         {"score", sentence.score}});
  }
  nlohmann::json scores = nlohmann::json::object();
  if (!inputs.truth.empty()) scores = scores_of(recovery, inputs);
  nlohmann::json json = {
      {"attack", "sentences"},           {"method", flags.method}, {"sentences", sentences},
      {"certified", recovery.certified}, {"residual", nullptr},    {"scores", scores},
      {"threat_model", "curious-server"}};
  if (flags.method == "best") json["residual"] = recovery.residual;
  if (flags.method == "paper") json["scale"] = recovery.scale;
  return json;
}

std::string certainty(const Flags& flags, const SentenceRecovery& recovery) {
  if (flags.method == "paper")
    return fmt::format("none: the paper's search with scale {:.4g} cannot tell whether it is right",
                       recovery.scale);
  if (recovery.certified)
    return fmt::format("certified: these messages, and nothing else, explain the update (residual {:.1e})",
                       recovery.residual);
  return fmt::format("not certified: {:.2g} of the update's output layer is left unexplained",
                     recovery.residual);
}

std::string text_of(const Flags& flags, const SentenceRecovery& recovery, const AttackInputs& inputs) {
  std::string text = fmt::format(
      "{} read from {}\n"
      "who reads:  {}\n"
      "update:     {}\n"
      "certainty:  {}\n",
      counted(static_cast<std::int64_t>(recovery.sentences.size()), "message", "messages"),
      flags.update.string(), threat_model_text(), protocol_text(inputs.observation.update.protocol),
      certainty(flags, recovery));
  if (!inputs.truth.empty()) {
    const SentenceScores scores = scores_of(recovery, inputs);
    text += fmt::format(
        "scores:     exact {:.4f} of {}, {:.4f} of those listed are exact\n"
        "            ratio {:.1f} one-to-one, {:.1f} best match, {:.1f} by the paper's formula; word F1 "
        "{:.4f}\n",
        scores.exact, counted(scores.truth, "message", "messages"), scores.exact_precision, scores.matched,
        scores.levenshtein, scores.levenshtein_paper, scores.word_f1);
  }
  const std::size_t total = recovery.sentences.size();
  const std::size_t shown = flags.all ? total : std::min(total, kFirstLines);
  if (shown > 0) text += fmt::format("\n  {:>8}  message\n", "score");
  for (std::size_t i = 0; i < shown; ++i) {
    const RecoveredSentence& sentence = recovery.sentences[i];
    text += fmt::format("  {:>8.3f}  {}\n", sentence.score, inputs.tokenizer->decode(sentence.words));
  }
  return text + rest_text(total, shown);
}

int run(const Flags& flags) {
  const SentenceAttack attack = attack_of(flags);  // before the files, which may be large
  const AttackInputs inputs = read_attack_inputs(flags);
  const SentenceRecovery recovery = recover(attack, inputs.observation, inputs.truth);
  flags.json ? print_json(json_of(flags, recovery, inputs)) : print_text(text_of(flags, recovery, inputs));
  return 0;
}

}  // namespace

Verb attack_sentences_verb(CLI::App& attack) {
  CLI::App* app = attack.add_subcommand("sentences", "What did the client write?");
  const auto flags = std::make_shared<Flags>();
  add_attack_flags(*app, *flags);
  app->add_option("--method", flags->method,
                  "best: what explains the whole update; paper: the published search (best)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  app->add_option("--length", flags->length, "words per message, if known (best: any; paper: 4)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
      ->option_text("L");
  app->add_option("--scale", flags->scale,
                  "paper: factor on the update before the search; auto needs no truth (auto)")
      ->option_text("auto|S");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
