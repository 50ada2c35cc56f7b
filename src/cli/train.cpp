// undertext train: ordinary training on public texts, of the model that a federation starts from.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/defence_flags.h"
#include "cli/output.h"
#include "cli/text_filter_flags.h"
#include "cli/text_inputs.h"
#include "cli/verb.h"
#include "federated/step_gradient.h"
#include "models/load_model.h"
#include "models/new_model.h"
#include "models/training.h"
#include "text/load_tokenizer.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, config, tokenizer, out;
  TextInputs texts, held_out;
  TextFilterFlags filter;
  DefenceFlags defences;
  std::string init, optimizer = "adam", train = "all";
  Training training{.epochs = 10, .batch = 16, .learning_rate = 1e-3};
  double weight_decay = 0.01, share = 0.1;
  std::int64_t keep_every = 0;
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
  if (flags.append_end) append_end(texts, *start.tokenizer);
  const auto longest = static_cast<std::size_t>(start.model->longest_sentence());
  std::vector<Sentence> result;
  for (Sentence& text : texts) {
    for (std::size_t first = 0; first < text.size(); first += longest)
      result.emplace_back(text.begin() + static_cast<std::ptrdiff_t>(first),
                          text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), first + longest)));
  }
  return result;
}

std::vector<Sentence> read(const Flags& flags, const Start& start, const TextInputs& inputs,
                           const std::string& where) {
  std::vector<Sentence> texts = inputs.read(*start.tokenizer, flags.filter.filter());
  return prepared(flags, start, flags.filter.expected_ones(std::move(texts), *start.model, where));
}

// The model as it is after so many steps, for whoever wants to attack it there: OUT.steps/N. What an
// interrupted run has kept already is what this one would keep.
void keep(const Flags& flags, const Start& start, std::int64_t step) {
  const std::filesystem::path folder = flags.out.string() + ".steps";
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);
  const std::filesystem::path place = folder / std::to_string(step);
  if (!std::filesystem::exists(place, ignored)) save_model_folder(*start.model, *start.tokenizer, place);
}

// Every step's gradient as a client of a federation would send it: under its defences.
void defend(const Flags& flags, const DefencePlan& plan, const Start& start, Training& training) {
  plan.check(DefenceSetting::training, *start.model, start.tokenizer.get());
  if (plan.find("frozen-embedding") != nullptr) training.train_embedding = false;
  const auto defences = plan.client(Seed(flags.seed).derive("defences"));
  if (defences.empty()) return;
  training.gradient_name = plan.text();
  perturb(*start.model, defences);
  training.gradient = [defences, model = start.model](std::span<const Sentence> batch, std::int64_t step,
                                                      NamedTensors& gradient) {
    const double loss = step_gradient(*model, batch, Reduction::mean, defences, step, gradient);
    return loss / static_cast<double>(model->predicted(batch));
  };
}

int run(const Flags& flags) {
  check_new_folder(flags.out);
  const std::filesystem::path checkpoint = flags.out.string() + ".checkpoint.safetensors";
  std::error_code ignored;
  if (flags.keep_every > 0 && !std::filesystem::exists(checkpoint, ignored))
    check_new_folder(flags.out.string() + ".steps");
  const DefencePlan plan = flags.defences.plan();
  const Start start = start_of(flags);
  std::vector<Sentence> texts = read(flags, start, flags.texts, "the texts");
  std::vector<Sentence> held_out;
  if (flags.held_out.given()) {
    held_out = read(flags, start, flags.held_out, "the held-out texts");
  } else {
    // The last ones: the same whatever else is asked for.
    const auto count = static_cast<std::size_t>(flags.share * static_cast<double>(texts.size()));
    if (texts.size() < 2 || count == 0 || count >= texts.size())
      fail("{} texts are too few to hold some out, expected --held-out FILE", texts.size());
    held_out.assign(texts.end() - static_cast<std::ptrdiff_t>(count), texts.end());
    texts.resize(texts.size() - count);
  }
  texts = plan.texts(std::move(texts), *start.tokenizer);
  start.model->check(texts, "the texts");
  start.model->check(held_out, "the held-out texts");
  if (start.model->predicted(texts) == 0 || start.model->predicted(held_out) == 0)
    fail("the texts hold no word that the model would predict");

  Training training = flags.training;
  training.adam.weight_decay = flags.optimizer == "adamw" ? flags.weight_decay : 0;
  training.checkpoint = checkpoint;
  training.train_embedding = flags.train == "all";
  defend(flags, plan, start, training);
  const double before = perplexity(*start.model, held_out);
  if (flags.keep_every > 0) keep(flags, start, 0);
  const TrainingResult result =
      train_model(*start.model, texts, held_out, training, Seed(flags.seed), [&](std::int64_t step) {
        if (flags.keep_every > 0 && step % flags.keep_every == 0) keep(flags, start, step);
      });
  save_model_folder(*start.model, *start.tokenizer, flags.out);
  if (flags.json) {
    nlohmann::json summary = {{"verb", "train"},
                              {"out", flags.out.string()},
                              {"kind", start.model->kind()},
                              {"texts", texts.size()},
                              {"held_out", held_out.size()},
                              {"epochs", result.epochs},
                              {"steps", result.steps},
                              {"train", training.train_embedding ? "all" : "all-but-embedding"},
                              {"stopped_early", result.stopped_early},
                              {"resumed_at", result.resumed_at},
                              {"perplexity_before", before},
                              {"perplexity", result.perplexity},
                              {"seed", flags.seed}};
    summary["defences"] = flags.defences.json();
    print_json(summary);
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
  app->add_option("--train", flags->train, "all or all-but-embedding, which stays as it is (all)")
      ->check(CLI::IsMember({"all", "all-but-embedding"}))
      ->option_text("NAME");
  app->add_option("--keep-every", flags->keep_every,
                  "keep the model after every N steps too, as OUT.steps/0, OUT.steps/N, ...")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("N");
  app->add_flag("--append-end", flags->append_end, "end each text with the tokenizer's end token");
  flags->filter.add_flags(*app);
  flags->defences.add_flags(*app);
  app->add_option("--seed", flags->seed, "seed of weights and order (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
