// undertext client: play a client, or several at once. Trains on its texts and writes what it would send.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/client_users.h"
#include "cli/defence_flags.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "federated/aggregation.h"
#include "federated/observation.h"
#include "models/load_model.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, out;
  ClientUsers users;
  LocalTraining training;
  std::string train, reduction, kind = "weights";  // empty: as fits the model
  DefenceFlags defences;
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

// The keyboard keeps its embedding as it is and sums the loss; other frameworks train all, on the mean.
void settle(Flags& flags, const LanguageModel& model) {
  const bool keyboard = model.start_token() != kNoToken;
  if (flags.gradient) flags.kind = "gradient";
  if (flags.reduction.empty()) flags.reduction = keyboard && !flags.gradient ? "sum" : "mean";
  if (flags.train.empty()) flags.train = keyboard ? "all-but-embedding" : "all";
  LocalTraining& training = flags.training;
  training.reduction = flags.reduction == "sum" ? Reduction::sum : Reduction::mean;
  training.train_embedding = flags.train == "all";
  training.kind = flags.kind == "weights" ? UpdateKind::weights
                  : flags.kind == "delta" ? UpdateKind::delta
                                          : UpdateKind::gradient;
  training.dropout = !flags.no_dropout;
  training.seed = Seed(flags.seed).derive("dropout");
}

Update train(const Flags& flags, const DefencePlan& plan, const ModelFolder& folder,
             const std::vector<std::vector<Sentence>>& users) {
  const auto texts_of = [&](std::size_t u) { return plan.texts(users[u], *folder.tokenizer); };
  if (users.size() == 1)
    return train_locally(*folder.model, texts_of(0), flags.training, folder.hash,
                         plan.client(Seed(flags.seed)));
  std::vector<User> together;
  for (std::size_t u = 0; u < users.size(); ++u)
    together.push_back({texts_of(u), plan.client(user_seed(Seed(flags.seed), u, users.size()))});
  return average_gradient(*folder.model, together, flags.training, folder.hash);
}

// The texts' perplexity under a model; nothing where noise has left no finite number.
nlohmann::json perplexity_json(const LanguageModel& model, std::span<const Sentence> sentences) {
  const double value = perplexity(model, sentences);
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json summary_of(const Flags& flags, const std::vector<std::vector<Sentence>>& users,
                          const Update& update) {
  std::int64_t count = 0, words = 0, parameters = 0;
  for (const auto& sentences : users)
    for (const Sentence& sentence : sentences) ++count, words += static_cast<std::int64_t>(sentence.size());
  for (const auto& [name, tensor] : update.tensors) parameters += tensor.numel();
  const LocalTraining& training = flags.training;
  const std::int64_t batch = training.batch == 0 ? count : std::min(training.batch, count);
  nlohmann::json summary = {
      {"verb", "client"},
      {"update", flags.out.string()},
      {"kind", flags.kind},
      {"messages", count},
      {"length", flags.users.length() == 0 ? nlohmann::json() : nlohmann::json(flags.users.length())},
      {"users", users.size()},
      {"words", words},
      {"epochs", training.epochs},
      {"batch", batch},
      {"steps", training.epochs * steps_per_epoch(count, training.batch)},
      {"learning_rate", training.learning_rate},
      {"reduction", flags.reduction},
      {"train", flags.train},
      {"dropout", training.dropout},
      {"zero_output_bias", training.zero_output_bias},
      {"seed", flags.seed},
      {"tensors", update.tensors.size()},
      {"parameters", parameters}};
  summary["defences"] = flags.defences.json();
  return summary;
}

std::string text_of(const nlohmann::json& summary) {
  const auto number = [&](const char* key) {
    return summary.at(key).is_null() ? std::string("not finite")
                                     : fmt::format("{:.2f}", summary.at(key).get<double>());
  };
  const bool cut = !summary.at("length").is_null();
  const auto users = summary.at("users").get<std::int64_t>();
  std::string text = fmt::format(
      "trained on {}{} with {}, in {}\n",
      counted(summary.at("messages").get<std::int64_t>(), cut ? "sequence" : "message",
              cut ? "sequences" : "messages"),
      users == 1 ? "" : fmt::format(" of {} users, averaged,", users),
      counted(summary.at("words").get<std::int64_t>(), cut ? "token" : "word", cut ? "tokens" : "words"),
      counted(summary.at("steps").get<std::int64_t>(), "step", "steps"));
  if (summary.contains("perplexity_before"))
    text += fmt::format("perplexity on these messages: {} before, {} after\n", number("perplexity_before"),
                        number("perplexity_after"));
  return text + fmt::format("wrote {} ({} of {}, {})\n", summary.at("update").get<std::string>(),
                            summary.at("kind").get<std::string>(),
                            counted(summary.at("tensors").get<std::int64_t>(), "tensor", "tensors"),
                            counted(summary.at("parameters").get<std::int64_t>(), "number", "numbers"));
}

int run(Flags flags) {
  const DefencePlan plan = flags.defences.plan();  // refuses what is no number before anything is read
  check_output(flags.out);
  const ModelFolder folder = load_model_folder(flags.model);
  settle(flags, *folder.model);
  const std::vector<std::vector<Sentence>> users = flags.users.read(*folder.tokenizer, *folder.model);
  plan.check(users.size() == 1 ? DefenceSetting::update : DefenceSetting::users, *folder.model,
             folder.tokenizer.get());
  plan.apply(flags.training);
  flags.train = flags.training.train_embedding ? "all" : "all-but-embedding";
  Update update = train(flags, plan, folder, users);
  save_update(update, flags.out);

  nlohmann::json summary = summary_of(flags, users, update);
  // A gradient changes no model yet, and two more passes over the texts would cost as much again.
  if (flags.training.kind != UpdateKind::gradient) {
    const Observation observation = observe(folder.model, folder.hash, std::move(update));
    summary["perplexity_before"] = perplexity_json(*observation.before, users[0]);
    summary["perplexity_after"] = perplexity_json(*observation.after, users[0]);
  }
  flags.json ? print_json(summary) : print_text(text_of(summary));
  return 0;
}

void add_training_flags(CLI::App& app, Flags& flags) {
  LocalTraining& training = flags.training;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  app.add_option("--epochs", training.epochs, "passes over the texts (1)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("E");
  app.add_option("--batch", training.batch, "messages per step (0: all in one)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("B");
  app.add_option("--lr", training.learning_rate, "learning rate (0.001)")->option_text("RATE");
  app.add_option(
         "--reduction", flags.reduction,
         "the loss over a batch's words: sum or mean (keyboards: sum; else, and with --gradient: mean)")
      ->check(CLI::IsMember({"sum", "mean"}))
      ->option_text("NAME");
  app.add_option("--train", flags.train, "all or all-but-embedding (keyboards: all-but-embedding; else: all)")
      ->check(CLI::IsMember({"all", "all-but-embedding"}))
      ->option_text("NAME");
  CLI::Option* kind = app.add_option("--kind", flags.kind,
                                     "what is sent: weights, delta (after - before) or gradient (weights)")
                          ->check(CLI::IsMember({"weights", "delta", "gradient"}))
                          ->option_text("NAME");
  app.add_flag("--gradient", flags.gradient, "send the gradient of one step, by default of the mean loss")
      ->excludes(kind);
  app.add_flag("--no-dropout", flags.no_dropout,
               "train without the dropout that the model's config asks for");
  app.add_flag("--zero-output-bias", training.zero_output_bias,
               "start from an output bias of zero, as the published experiments did");
}

}  // namespace

Verb client_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("client", "Play a client: train on its texts, write what it sends");
  const auto flags = std::make_shared<Flags>();
  app->add_option("--model", flags->model, "model folder: config.json, weights, tokenizer files")
      ->required()
      ->option_text("DIR");
  flags->users.add_flags(*app);
  app->add_option("--out", flags->out, "where the update goes")->required()->option_text("FILE");
  add_training_flags(*app, *flags);
  flags->defences.add_flags(*app);
  app->add_option("--seed", flags->seed, "seed of noise, dropout and hidden words (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
