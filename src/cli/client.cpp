// undertext client: play a client. Trains on its texts and writes what it would send.
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/text_inputs.h"
#include "cli/verb.h"
#include "defences/noise.h"
#include "federated/local_training.h"
#include "federated/observation.h"
#include "models/load_model.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, out;
  TextInputs texts;
  LocalTraining training;
  std::string train, reduction, kind = "weights";  // empty: as fits the model
  double noise_per_step = 0, noise_final = 0;
  std::uint64_t seed = 1;
  bool gradient = false, no_dropout = false, json = false;
};

// Found out before minutes of training, not after.
void check_output(const std::filesystem::path& out) {
  std::error_code ignored;
  const std::filesystem::path folder = out.has_parent_path() ? out.parent_path() : ".";
  if (std::filesystem::is_directory(out, ignored)) fail("{}: is a folder, expected a file", out.string());
  if (!std::filesystem::is_directory(folder, ignored))
    fail("{}: the folder {} does not exist", out.string(), folder.string());
}

// The texts' perplexity under a model; nothing where noise has left no finite number.
nlohmann::json perplexity_json(const LanguageModel& model, std::span<const Sentence> sentences) {
  const double value = perplexity(model, sentences);
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

std::string text_of(const nlohmann::json& summary) {
  const auto number = [&](const char* key) {
    return summary.at(key).is_null() ? std::string("not finite")
                                     : fmt::format("{:.2f}", summary.at(key).get<double>());
  };
  return fmt::format(
      "trained on {} with {}, in {}\n"
      "perplexity on these messages: {} before, {} after\n"
      "wrote {} ({} of {}, {})\n",
      counted(summary.at("messages").get<std::int64_t>(), "message", "messages"),
      counted(summary.at("words").get<std::int64_t>(), "word", "words"),
      counted(summary.at("steps").get<std::int64_t>(), "step", "steps"), number("perplexity_before"),
      number("perplexity_after"), summary.at("update").get<std::string>(),
      summary.at("kind").get<std::string>(),
      counted(summary.at("tensors").get<std::int64_t>(), "tensor", "tensors"),
      counted(summary.at("parameters").get<std::int64_t>(), "number", "numbers"));
}

// The keyboard keeps its embedding as it is and sums the loss; other frameworks train all, on the mean.
void settle(Flags& flags, const LanguageModel& model) {
  const bool keyboard = model.start_token() != kNoToken;
  if (flags.gradient) flags.kind = "gradient";
  if (flags.reduction.empty()) flags.reduction = keyboard && !flags.gradient ? "sum" : "mean";
  if (flags.train.empty()) flags.train = keyboard ? "all-but-embedding" : "all";
}

int run(Flags flags) {
  const Seed seed(flags.seed);
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  // Made even where sigma is 0, so that a value that is no number is refused; added only where it acts.
  const auto per_step = std::make_shared<NoisePerStep>(flags.noise_per_step, seed);
  const auto on_result = std::make_shared<NoiseOnResult>(flags.noise_final, seed);
  if (flags.noise_per_step > 0) defences.push_back(per_step);
  if (flags.noise_final > 0) defences.push_back(on_result);
  check_output(flags.out);

  const ModelFolder folder = load_model_folder(flags.model);
  settle(flags, *folder.model);
  LocalTraining training = flags.training;
  training.reduction = flags.reduction == "sum" ? Reduction::sum : Reduction::mean;
  training.train_embedding = flags.train == "all";
  training.kind = flags.kind == "weights" ? UpdateKind::weights
                  : flags.kind == "delta" ? UpdateKind::delta
                                          : UpdateKind::gradient;
  training.dropout = !flags.no_dropout;
  training.seed = seed.derive("dropout");
  const std::vector<Sentence> sentences = flags.texts.read(*folder.tokenizer);
  Update update = train_locally(*folder.model, sentences, training, folder.hash, defences);
  save_update(update, flags.out);

  std::int64_t words = 0, parameters = 0;
  for (const Sentence& sentence : sentences) words += static_cast<std::int64_t>(sentence.size());
  for (const auto& [name, tensor] : update.tensors) parameters += tensor.numel();
  const auto count = static_cast<std::int64_t>(sentences.size());
  const std::int64_t batch = training.batch == 0 ? count : std::min(training.batch, count);
  const auto tensors = update.tensors.size();
  const Observation observation = observe(folder.model, folder.hash, std::move(update));
  const nlohmann::json summary = {{"verb", "client"},
                                  {"update", flags.out.string()},
                                  {"kind", flags.kind},
                                  {"messages", count},
                                  {"words", words},
                                  {"epochs", training.epochs},
                                  {"batch", batch},
                                  {"steps", training.epochs * ((count + batch - 1) / batch)},
                                  {"learning_rate", training.learning_rate},
                                  {"reduction", flags.reduction},
                                  {"train", flags.train},
                                  {"zero_output_bias", training.zero_output_bias},
                                  {"noise_per_step", flags.noise_per_step},
                                  {"noise_final", flags.noise_final},
                                  {"seed", flags.seed},
                                  {"tensors", tensors},
                                  {"parameters", parameters},
                                  {"perplexity_before", perplexity_json(*observation.before, sentences)},
                                  {"perplexity_after", perplexity_json(*observation.after, sentences)}};
  flags.json ? print_json(summary) : print_text(text_of(summary));
  return 0;
}

}  // namespace

Verb client_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("client", "Play a client: train on its texts, write what it sends");
  const auto flags = std::make_shared<Flags>();
  LocalTraining& training = flags->training;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  app->add_option("--model", flags->model, "model folder: config.json, weights, tokenizer files")
      ->required()
      ->option_text("DIR");
  flags->texts.add_flags(*app, {"--texts", "--ids", "the client's messages", true});
  app->add_option("--out", flags->out, "where the update goes")->required()->option_text("FILE");
  app->add_option("--epochs", training.epochs, "passes over the texts (1)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("E");
  app->add_option("--batch", training.batch, "messages per step (0: all in one)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("B");
  app->add_option("--lr", training.learning_rate, "learning rate (0.001)")->option_text("RATE");
  app->add_option(
         "--reduction", flags->reduction,
         "the loss over a batch's words: sum or mean (keyboards: sum; else, and with --gradient: mean)")
      ->check(CLI::IsMember({"sum", "mean"}))
      ->option_text("NAME");
  app->add_option("--train", flags->train,
                  "all or all-but-embedding (keyboards: all-but-embedding; else: all)")
      ->check(CLI::IsMember({"all", "all-but-embedding"}))
      ->option_text("NAME");
  CLI::Option* kind = app->add_option("--kind", flags->kind,
                                      "what is sent: weights, delta (after - before) or gradient (weights)")
                          ->check(CLI::IsMember({"weights", "delta", "gradient"}))
                          ->option_text("NAME");
  app->add_flag("--gradient", flags->gradient, "send the gradient of one step, by default of the mean loss")
      ->excludes(kind);
  app->add_flag("--no-dropout", flags->no_dropout,
                "train without the dropout that the model's config asks for");
  app->add_option("--noise-per-step", flags->noise_per_step, "Gaussian noise on each step's gradient")
      ->option_text("SIGMA");
  app->add_option("--noise-final", flags->noise_final, "Gaussian noise on what is sent")
      ->option_text("SIGMA");
  app->add_flag("--zero-output-bias", training.zero_output_bias,
                "start from an output bias of zero, as the published experiments did");
  app->add_option("--seed", flags->seed, "seed of noise, dropout and hidden words (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
