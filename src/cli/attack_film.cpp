// undertext attack film: whole sentences out of the gradient of a batch.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "audit/chosen_attack.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "text/corpus.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  FilmAttack attack;
  std::filesystem::path entities;  // empty: found by rules
};

nlohmann::json json_of(const Flags& flags, const FilmRecovery& recovery, const AttackInputs& inputs,
                       const std::optional<FilmScores>& scores) {
  nlohmann::json sentences = nlohmann::json::array();
  for (const FilmSentence& sentence : recovery.sentences)
    sentences.push_back({{"ids", sentence.ids},
                         {"text", inputs.tokenizer->decode(sentence.ids)},
                         {"score", sentence.score},
                         {"confidence", sentence.confidence},
                         {"certified", sentence.certified}});
  return {{"attack", "film"},
          {"method", flags.attack.method},
          {"oracle", flags.attack.oracle()},
          {"bag", recovery.bag},
          {"bag_from", recovery.bag_from},
          {"bag_confidence",
           recovery.bag_confidence ? nlohmann::json(*recovery.bag_confidence) : nlohmann::json(nullptr)},
          {"longest", recovery.longest},
          {"sentences", sentences},
          {"residual", recovery.residual},
          {"certified", recovery.certified},
          {"scores", scores ? nlohmann::json(*scores) : nlohmann::json::object()},
          {"entities_from", flags.entities.empty() ? "rules" : "file"},
          {"threat_model", "curious-server"}};
}

std::string score_lines(const FilmScores& scores) {
  const auto rouge = [](const auto& of) {
    return fmt::format("ROUGE-1 {:.3f}, ROUGE-2 {:.3f}, ROUGE-L {:.3f}", of.rouge_1, of.rouge_2, of.rouge_l);
  };
  const auto nearest = [&](const char* name, const RecoveredSentenceScores& of, const char* which) {
    const std::string nerr = of.nerr ? fmt::format("; NERR {:.3f}", *of.nerr) : "";
    return fmt::format("  {:<10}{}{} ({})\n", name, rouge(of), nerr, which);
  };
  std::string lines = fmt::format("scores:     {:.3f} of {} exact\n", scores.exact,
                                  counted(scores.truth, "true text", "true texts"));
  lines += fmt::format("  all       {} (one-to-one; stemmed {:.3f}, {:.3f}, {:.3f})\n", rouge(scores.matched),
                       scores.matched_stemmed.rouge_1, scores.matched_stemmed.rouge_2,
                       scores.matched_stemmed.rouge_l);
  lines += nearest("first", scores.first, "the text ranked first and the true one nearest to it");
  lines += nearest("best", scores.best, "of all that were read, chosen with the truth");
  lines += fmt::format("  near      {:.3f} of the true texts, {:.3f} of those read (ROUGE-L above .25)\n",
                       scores.recall_25, scores.precision_25);
  if (scores.entity_recall)
    lines += fmt::format("  entities  {:.3f} of those of the true texts\n", *scores.entity_recall);
  if (scores.bag)
    lines += fmt::format("  bag       precision {:.3f}, recall {:.3f}\n", scores.bag->precision,
                         scores.bag->recall);
  if (scores.auc)
    lines += fmt::format("  trust     AUC {:.3f}: how well confidence tells right texts from others\n",
                         *scores.auc);
  return lines;
}

std::string text_of(const Flags& flags, const FilmRecovery& recovery, const AttackInputs& inputs,
                    const std::optional<FilmScores>& scores) {
  std::string text = fmt::format(
      "{} read from {}\n"
      "who reads:  {}\n"
      "update:     {}\n"
      "bag:        {} ({}, confidence {})\n"
      "certified:  {}\n",
      counted(std::ssize(recovery.sentences), "text", "texts"), flags.update.string(),
      flags.attack.oracle() ? "nobody: the bag of words was given" : threat_model_text(),
      protocol_text(inputs.observation.update.protocol), counted(std::ssize(recovery.bag), "token", "tokens"),
      recovery.bag_from,
      recovery.bag_confidence ? fmt::format("{:.2f}", *recovery.bag_confidence) : "not known",
      recovery.certified
          ? std::string("yes: the gradient of these texts is the observed one, to rounding")
          : fmt::format("no: {:.2g} of the gradient is not explained; trust each text as its confidence says",
                        recovery.residual));
  if (scores) text += score_lines(*scores);
  const std::size_t total = recovery.sentences.size();
  const std::size_t shown = flags.all ? total : std::min(total, kFirstLines);
  text += "\n";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("  {:.2f}  {}\n", recovery.sentences[i].confidence,
                        inputs.tokenizer->decode(recovery.sentences[i].ids));
  return text + rest_text(total, shown);
}

int run(Flags flags) {
  FilmAttack& attack = flags.attack;
  if (attack.oracle() && !flags.truth.given())
    fail("--bag oracle: is the truth's, expected --truth or --truth-ids FILE as well");
  if (!flags.entities.empty() && !flags.truth.given())
    fail("--entities: counts in scores alone, expected --truth or --truth-ids FILE as well");
  const EntityFinder entities = flags.entities.empty() ? EntityFinder() : read_entities(flags.entities);
  // A single step: its batch is all that there is. An update of our own says so itself.
  if (flags.count == 0 || flags.count == flags.batch)
    if (const std::int64_t texts = std::exchange(flags.batch, 0); texts > 0) flags.count = texts;
  const AttackInputs inputs = read_attack_inputs(flags);
  const std::int64_t own = inputs.observation.update.protocol.count;
  if (flags.count > 0 && own > 0 && own != flags.count)
    fail("{}: says that it is of {}, expected as many by --batch or --count", flags.update.string(),
         counted(own, "text", "texts"));
  attack.batch = flags.count;
  FilmRecovery recovery;
  try {
    recovery = recover(attack, inputs.observation, *inputs.tokenizer, inputs.truth);
  } catch (const UserError& error) {
    fail("{}: {}", flags.update.string(), error.what());
  }
  std::optional<FilmScores> scores;
  if (!inputs.truth.empty()) scores = scores_of(recovery, inputs.truth, *inputs.tokenizer, entities);
  flags.json ? print_json(json_of(flags, recovery, inputs, scores))
             : print_text(text_of(flags, recovery, inputs, scores));
  return 0;
}

}  // namespace

Verb attack_film_verb(CLI::App& attack) {
  CLI::App* app = attack.add_subcommand("film", "Read whole sentences from the gradient of a GPT-2");
  const auto flags = std::make_shared<Flags>();
  add_attack_flags(*app, *flags);
  app->get_option("--batch")->description("texts of the step, if known");
  FilmAttack& to = flags->attack;
  constexpr std::int64_t kMost = 1'000'000;
  app->add_option("--method", to.method,
                  "paper: beam search and reordering; best: ours, guided and judged by the gradient (best)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  app->add_option(
         "--bag", to.bag,
         "the bag of words: from the gradient, or oracle, from --truth, which no adversary has (gradient)")
      ->check(CLI::IsMember({"gradient", "oracle"}))
      ->option_text("NAME");
  app->add_option("--beam", to.beam, "prefixes kept at a time (32)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("K");
  app->add_option("--sentences", to.sentences, "texts to recover (paper: 1; best: all that are found)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("N");
  app->add_option("--length", to.longest, "tokens of a text at most (40, or fewer as the places show)")
      ->check(CLI::Range(std::int64_t{2}, kMost))
      ->option_text("L");
  app->add_option("--reorder", to.reorder, "paper: what to reorder: none, phrases, tokens or both (both)")
      ->check(CLI::IsMember({"none", "phrases", "tokens", "both"}))
      ->option_text("NAME");
  app->add_option("--ngram", to.ngram, "paper: how many tokens may not come again together; 0: any may (2)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("N");
  app->add_option("--ngram-penalty", to.ngram_penalty,
                  "paper: nats that such tokens cost, instead of being ruled out")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("X");
  app->add_option("--groups", to.groups,
                  "paper: groups of beams, each unlike those before it (1, by --as-code 8)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("G");
  app->add_option("--diversity", to.diversity,
                  "paper: nats that a token costs for each time that an earlier group's beams hold it (0.1)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("X");
  app->add_flag("--as-code", to.as_code,
                "paper: as its published code where that differs: 8 groups, 100 and 99 steps, swaps alone, "
                "--fast-norm, cut at the first end");
  app->add_option("--reorder-steps", to.reorder_steps,
                  "paper: steps of each kind of reordering (200, by --as-code 100 and 99)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("N");
  app->add_option("--beta", to.beta, "paper: weight of the gradient norm beside the perplexity (1)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("B");
  app->add_flag("--fast-norm", to.fast_norm, "paper: the norm of one layer norm's gradient, not of all");
  app->add_option("--noise", to.noise, "deviation of a defence's noise (as the update says)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("SIGMA");
  app->add_option("--entities", flags->entities,
                  "named entities, one a line, that the scores look for (found by rules)")
      ->option_text("FILE");
  app->add_flag("--trace", to.trace, "tell on standard error how the search goes");
  app->add_option("--seed", to.seed, "seed of what is drawn (1)")->option_text("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
