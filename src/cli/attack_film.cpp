// undertext attack film: whole sentences out of the gradient of a batch.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "attacks/film/film.h"
#include "audit/message_pairs.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "metrics/rouge.h"
#include "metrics/sentence_scores.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  std::string method = "best", bag = "gradient", reorder = "both";
  FilmOptions options;
  std::uint64_t seed = 1;
};

std::vector<Sentence> sentences_of(const FilmRecovery& recovery) {
  std::vector<Sentence> result;
  for (const FilmSentence& sentence : recovery.sentences) result.push_back(sentence.ids);
  return result;
}

nlohmann::json scores_of(const FilmRecovery& recovery, const AttackInputs& inputs) {
  if (inputs.truth.empty()) return nlohmann::json::object();
  const std::vector<Sentence> found = sentences_of(recovery);
  nlohmann::json scores = score_sentences(inputs.truth, found);
  const nlohmann::json rouge =
      score_rouge(texts_of(inputs.truth, *inputs.tokenizer), texts_of(found, *inputs.tokenizer));
  scores.update(rouge);
  Sentence words;
  for (const Sentence& sentence : inputs.truth) words.insert(words.end(), sentence.begin(), sentence.end());
  const WordScores bag = score_words(words, recovery.bag);
  scores["bag_precision"] = bag.precision;
  scores["bag_recall"] = bag.recall;
  return scores;
}

nlohmann::json json_of(const Flags& flags, const FilmRecovery& recovery, const AttackInputs& inputs) {
  nlohmann::json sentences = nlohmann::json::array();
  for (const FilmSentence& sentence : recovery.sentences)
    sentences.push_back({{"ids", sentence.ids},
                         {"text", inputs.tokenizer->decode(sentence.ids)},
                         {"score", sentence.score},
                         {"confidence", sentence.confidence},
                         {"certified", sentence.certified}});
  return {{"attack", "film"},
          {"method", flags.method},
          {"oracle", flags.bag == "oracle"},
          {"bag", recovery.bag},
          {"bag_from", recovery.bag_from},
          {"bag_confidence", recovery.bag_confidence},
          {"longest", recovery.longest},
          {"sentences", sentences},
          {"residual", recovery.residual},
          {"certified", recovery.certified},
          {"scores", scores_of(recovery, inputs)},
          {"threat_model", "curious-server"}};
}

std::string text_of(const Flags& flags, const FilmRecovery& recovery, const AttackInputs& inputs) {
  std::string text = fmt::format(
      "{} read from {}\n"
      "who reads:  {}\n"
      "update:     {}\n"
      "bag:        {} ({}, confidence {:.2f})\n"
      "certified:  {}\n",
      counted(std::ssize(recovery.sentences), "text", "texts"), flags.update.string(),
      flags.bag == "oracle" ? "nobody: the bag of words was given" : threat_model_text(),
      protocol_text(inputs.observation.update.protocol), counted(std::ssize(recovery.bag), "token", "tokens"),
      recovery.bag_from, recovery.bag_confidence,
      recovery.certified
          ? std::string("yes: the gradient of these texts is the observed one, to rounding")
          : fmt::format("no: {:.2g} of the gradient is not explained; trust each text as its confidence says",
                        recovery.residual));
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
    text += fmt::format("  {:.2f}  {}\n", recovery.sentences[i].confidence,
                        inputs.tokenizer->decode(recovery.sentences[i].ids));
  return text + rest_text(total, shown);
}

// Tokens by how they are written: first those that a sentence may begin with, then those that may end it.
void sort_tokens(const Tokenizer& tokenizer, FilmOptions& options) {
  for (Token id = 0; id < tokenizer.size(); ++id) {
    const std::string text = tokenizer.decode(std::span(&id, 1));
    const auto letter = std::ranges::find_if(text, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (letter != text.end() && std::isupper(static_cast<unsigned char>(*letter)) != 0)
      options.starts.push_back(id);
    if (text.find_first_of(".?!") != std::string::npos) options.ends.push_back(id);
  }
}

int run(Flags flags) {
  if (flags.bag == "oracle" && !flags.truth.given())
    fail("--bag oracle needs the truth, expected --truth FILE as well");
  const AttackInputs inputs = read_attack_inputs(flags);
  FilmOptions& options = flags.options;
  options.method = flags.method == "paper" ? FilmMethod::paper : FilmMethod::best;
  options.bag = flags.bag == "oracle" ? FilmBag::oracle : FilmBag::gradient;
  options.reorder = flags.reorder == "none"      ? FilmReorder::none
                    : flags.reorder == "phrases" ? FilmReorder::phrases
                    : flags.reorder == "tokens"  ? FilmReorder::tokens
                                                 : FilmReorder::both;
  if (options.bag == FilmBag::oracle)
    for (const Sentence& sentence : inputs.truth)
      options.oracle_bag.insert(options.oracle_bag.end(), sentence.begin(), sentence.end());
  options.batch = flags.batch > 0 ? flags.batch : flags.count;
  options.seed = Seed(flags.seed);
  if (options.method == FilmMethod::paper) sort_tokens(*inputs.tokenizer, options);
  FilmRecovery recovery;
  try {
    recovery = film(inputs.observation, options);
  } catch (const UserError& error) {
    fail("{}: {}", flags.update.string(), error.what());
  }
  flags.json ? print_json(json_of(flags, recovery, inputs)) : print_text(text_of(flags, recovery, inputs));
  return 0;
}

}  // namespace

Verb attack_film_verb(CLI::App& attack) {
  CLI::App* app = attack.add_subcommand("film", "Read whole sentences from the gradient of a GPT-2");
  const auto flags = std::make_shared<Flags>();
  add_attack_flags(*app, *flags);
  FilmOptions& to = flags->options;
  constexpr std::int64_t kMost = 1'000'000;
  app->add_option("--method", flags->method,
                  "paper: beam search and reordering; best: ours, guided and judged by the gradient (best)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  app->add_option(
         "--bag", flags->bag,
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
  app->add_option("--reorder", flags->reorder, "paper: what to reorder: none, phrases, tokens or both (both)")
      ->check(CLI::IsMember({"none", "phrases", "tokens", "both"}))
      ->option_text("NAME");
  app->add_option("--reorder-steps", to.reorder_steps, "paper: steps of each kind of reordering (200)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("N");
  app->add_option("--beta", to.beta, "paper: weight of the gradient norm beside the perplexity (1)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("B");
  app->add_flag("--fast-norm", to.fast_norm, "paper: the norm of one layer norm's gradient, not of all");
  app->add_option("--noise", to.noise, "deviation of a defence's noise, where it is known (0)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("SIGMA");
  app->add_option("--seed", flags->seed, "seed of what is drawn (1)")->option_text("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
