// undertext train: ordinary training on public texts, of the model that a federation starts from.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/text_inputs.h"
#include "cli/verb.h"
#include "models/load_model.h"
#include "models/new_model.h"
#include "models/training.h"
#include "text/load_tokenizer.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, config, tokenizer, out;
  TextInputs texts, held_out;
  std::string init, optimizer = "adam";
  Training training{.epochs = 10, .batch = 16, .learning_rate = 1e-3};
  double weight_decay = 0.01, share = 0.1;
  bool append_end = false, json = false;
  std::uint64_t seed = 1;
};

struct Start {
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

Start start_of(const Flags& flags) {
  if (flags.init == "random") {
    if (flags.config.empty() || (flags.tokenizer.empty() && flags.model.empty()))
      fail("--init random: expected --config FILE and --tokenizer DIR");
    const auto tokenizer = load_tokenizer(flags.tokenizer.empty() ? flags.model : flags.tokenizer);
    return {new_model(flags.config, *tokenizer, true, Seed(flags.seed).derive("weights")), tokenizer};
  }
  if (flags.model.empty()) fail("expected --model DIR, or --init random with --config FILE");
  if (!flags.config.empty()) fail("--config: belongs to --init random");
  ModelFolder folder = load_model_folder(flags.model);
  return {folder.model, folder.tokenizer};
}

// As the model can read them: with the token that ends a text when asked, long texts in pieces.
std::vector<Sentence> prepared(const Flags& flags, const Start& start, std::vector<Sentence> texts) {
  const std::optional<Token> end = start.tokenizer->special().end;
  if (flags.append_end && !end) fail("--append-end: the tokenizer has no token that ends a text");
  const auto longest = static_cast<std::size_t>(start.model->longest_sentence());
  std::vector<Sentence> result;
  for (Sentence& text : texts) {
    if (flags.append_end) text.push_back(*end);
    for (std::size_t first = 0; first < text.size(); first += longest)
      result.emplace_back(text.begin() + static_cast<std::ptrdiff_t>(first),
                          text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), first + longest)));
  }
  return result;
}

int run(const Flags& flags) {
  check_new_folder(flags.out);
  const Start start = start_of(flags);
  std::vector<Sentence> texts = prepared(flags, start, flags.texts.read(*start.tokenizer));
  std::vector<Sentence> held_out;
  if (flags.held_out.given()) {
    held_out = prepared(flags, start, flags.held_out.read(*start.tokenizer));
  } else {
    // The last ones: the same whatever else is asked for.
    const auto count = static_cast<std::size_t>(flags.share * static_cast<double>(texts.size()));
    if (texts.size() < 2 || count == 0 || count >= texts.size())
      fail("{} texts are too few to hold some out, expected --held-out FILE", texts.size());
    held_out.assign(texts.end() - static_cast<std::ptrdiff_t>(count), texts.end());
    texts.resize(texts.size() - count);
  }
  start.model->check(texts, "the texts");
  start.model->check(held_out, "the held-out texts");
  if (start.model->predicted(texts) == 0 || start.model->predicted(held_out) == 0)
    fail("the texts hold no word that the model would predict");

  Training training = flags.training;
  training.adam.weight_decay = flags.optimizer == "adamw" ? flags.weight_decay : 0;
  training.checkpoint = flags.out.string() + ".checkpoint.safetensors";
  const double before = perplexity(*start.model, held_out);
  const TrainingResult result = train_model(*start.model, texts, held_out, training, Seed(flags.seed));
  save_model_folder(*start.model, *start.tokenizer, flags.out);
  if (flags.json) {
    print_json({{"verb", "train"},
                {"out", flags.out.string()},
                {"kind", start.model->kind()},
                {"texts", texts.size()},
                {"held_out", held_out.size()},
                {"epochs", result.epochs},
                {"stopped_early", result.stopped_early},
                {"resumed_at", result.resumed_at},
                {"perplexity_before", before},
                {"perplexity", result.perplexity},
                {"seed", flags.seed}});
    return 0;
  }
  print_text(fmt::format(
      "trained on {} for {}{}{}\nperplexity on {} held out: {:.2f} before, {:.2f} after\nwrote {}\n",
      counted(std::ssize(texts), "text", "texts"), counted(result.epochs, "epoch", "epochs"),
      result.stopped_early ? ", stopped early" : "",
      result.resumed_at > 0 ? fmt::format(", gone on from step {}", result.resumed_at) : "",
      counted(std::ssize(held_out), "text", "texts"), before, result.perplexity, flags.out.string()));
  return 0;
}

}  // namespace

Verb train_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "Train a model on public texts");
  const auto flags = std::make_shared<Flags>();
  Training& training = flags->training;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  app->add_option("--model", flags->model, "model folder to start from")->option_text("DIR");
  app->add_option("--init", flags->init, "random: start anew, by --config and --tokenizer")
      ->check(CLI::IsMember({"random"}))
      ->option_text("random");
  app->add_option("--config", flags->config, "with --init random: the model's config.json")
      ->option_text("FILE");
  app->add_option("--tokenizer", flags->tokenizer, "with --init random: folder with the tokenizer's files")
      ->option_text("DIR");
  flags->texts.add_flags(*app, {"--texts", "--ids", "public texts", true});
  flags->held_out.add_flags(*app,
                            {"--held-out", "--held-out-ids", "texts to stop by, none of them trained on"});
  app->add_option("--held-out-share", flags->share, "without --held-out: share of the texts held out (0.1)")
      ->check(CLI::Range(0.0, 0.9))
      ->option_text("P");
  app->add_option("--out", flags->out, "where the trained folder goes")->required()->option_text("DIR");
  app->add_option("--epochs", training.epochs, "passes over the texts at most (10)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("E");
  app->add_option("--batch", training.batch, "texts per step (16)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("B");
  app->add_option("--lr", training.learning_rate, "learning rate at the start; it falls to 0 (0.001)")
      ->check(CLI::Range(1e-12, 1e3))
      ->option_text("RATE");
  app->add_option("--optimizer", flags->optimizer, "adam or adamw (adam)")
      ->check(CLI::IsMember({"adam", "adamw"}))
      ->option_text("NAME");
  app->add_option("--weight-decay", flags->weight_decay, "adamw: decay of matrices (0.01)")
      ->check(CLI::Range(0.0, 1e3))
      ->option_text("D");
  app->add_option("--clip", training.adam.clip, "largest norm of a step's gradient (1)")
      ->check(CLI::Range(1e-12, 1e12))
      ->option_text("NORM");
  app->add_option(
         "--patience", training.patience,
         "stop after so many epochs without a better held-out perplexity, and keep the best (0: never)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("E");
  app->add_flag("--append-end", flags->append_end, "end each text with the tokenizer's end token");
  app->add_option("--seed", flags->seed, "seed of weights and order (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
