// undertext server: play a malicious server. Corrupts the state that clients are to train on.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attacks/decepticons/corrupt.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/text_inputs.h"
#include "cli/verb.h"
#include "models/load_model.h"
#include "models/new_model.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, out;
  TextInputs public_texts;
  CorruptOptions options;
  std::string design = "best";
  bool no_dropout = false, json = false;
};

// Dropout is a part of the config that a server may turn off (decepticons, appendix E.3).
std::shared_ptr<Transformer> without_dropout(const Transformer& model) {
  TransformerConfig config = model.config();
  config.embedding_dropout = config.attention_dropout = config.residual_dropout = 0;
  return std::make_shared<Transformer>(config, model.parameters());
}

double largest_dropout(const TransformerConfig& config) {
  return std::max({config.embedding_dropout, config.attention_dropout, config.residual_dropout});
}

// Both or neither.
void save(const CorruptedState& state, const Tokenizer& tokenizer, const std::filesystem::path& folder) {
  const std::filesystem::path key = key_file_of(folder);
  save_key(state.key, key);
  try {
    save_model_folder(*state.model, tokenizer, folder);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(key, ignored);
    throw;
  }
}

std::string text_of(const nlohmann::json& summary) {
  return fmt::format(
      "wrote {}: a {} whose gradients spell out the texts they are of\n"
      "who does this: a malicious server, which chooses the weights that clients train on\n"
      "design:        {}, {} in {}\n"
      "measured on:   {}\n"
      "disguise:      {}\n"
      "dropout:       {}\n"
      "the key, which stays with the server: {}\n",
      summary.at("out").get<std::string>(), summary.at("kind").get<std::string>(),
      summary.at("design").get<std::string>(), counted(summary.at("bins").get<std::int64_t>(), "bin", "bins"),
      counted(summary.at("layers").get<std::int64_t>(), "layer", "layers"),
      summary.at("public_texts").get<std::int64_t>() > 0
          ? counted(summary.at("public_texts").get<std::int64_t>(), "public text", "public texts")
          : "random tokens",
      summary.at("disguise").get<double>() > 0
          ? fmt::format("noise of {} of what the weights hold", summary.at("disguise").get<double>())
          : "none",
      summary.at("dropout").get<double>() > 0
          ? fmt::format("{}, as the model's config says", summary.at("dropout").get<double>())
          : "off",
      summary.at("key").get<std::string>());
}

int run(Flags& flags) {
  check_new_folder(flags.out);
  const std::filesystem::path key = key_file_of(flags.out);
  if (std::filesystem::exists(key))
    fail("{}: is there already, expected to write the key there", key.string());
  const ModelFolder folder = load_model_folder(flags.model);
  const auto* model = dynamic_cast<const Transformer*>(folder.model.get());
  if (!model)
    fail("{}: is a {}, expected a gpt2, bert or transformer", flags.model.string(), folder.model->kind());
  const std::vector<Sentence> texts = flags.public_texts.read(*folder.tokenizer);
  flags.options.public_texts = texts;
  flags.options.design = flags.design == "paper" ? DecepticonDesign::paper : DecepticonDesign::best;
  CorruptedState state;
  try {
    state = corrupt(*model, flags.options);
  } catch (const UserError& error) {
    fail("{}: {}", flags.model.string(), error.what());
  }
  if (flags.no_dropout) state.model = without_dropout(*state.model);
  save(state, *folder.tokenizer, flags.out);

  const TransformerConfig& config = state.model->config();
  const nlohmann::json summary = {{"verb", "server corrupt"},
                                  {"out", flags.out.string()},
                                  {"key", key.string()},
                                  {"kind", state.model->kind()},
                                  {"design", name_of(state.key.design)},
                                  {"layers", config.layers},
                                  {"bins", config.layers * config.inner},
                                  {"public_texts", texts.size()},
                                  {"length", flags.options.length},
                                  {"disguise", flags.options.disguise},
                                  {"dropout", largest_dropout(config)},
                                  {"seed", flags.options.seed},
                                  {"threat_model", "malicious-server"}};
  flags.json ? print_json(summary) : print_text(text_of(summary));
  return 0;
}

}  // namespace

Verb server_corrupt_verb(CLI::App& server) {
  CLI::App* app = server.add_subcommand(
      "corrupt", "Make a model folder whose gradients spell out clients' texts (decepticons)");
  const auto flags = std::make_shared<Flags>();
  CorruptOptions& options = flags->options;
  app->add_option("--model", flags->model, "model folder of a transformer")->required()->option_text("DIR");
  app->add_option("--out", flags->out, "where the corrupted folder goes; its key goes to DIR.key.json")
      ->required()
      ->option_text("DIR");
  app->add_option("--design", flags->design, "paper: as published; best: ours, for the exact recovery (best)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  flags->public_texts.add_flags(
      *app, {"--public-texts", "--public-ids", "public texts to learn the spread of measurements from"});
  app->add_option("--length", options.length, "tokens per sequence that clients will train on (32)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->option_text("S");
  app->add_option("--disguise", options.disguise,
                  "noise that hides equal rows and empty blocks, in units of what the weights hold (0)")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("SIGMA");
  app->add_flag("--no-dropout", flags->no_dropout, "write a config without dropout");
  app->add_option("--seed", options.seed, "seed of what the server draws (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
