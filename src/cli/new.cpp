// undertext new: a model folder with random weights.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "models/new_model.h"
#include "text/corpus.h"
#include "text/load_tokenizer.h"
#include "text/restricted_tokenizer.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path config, tokenizer, restrict_to, out;
  std::uint64_t seed = 1;
  bool json = false;
};

int run(const Flags& flags) {
  check_new_folder(flags.out);
  std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(flags.tokenizer);
  const std::int64_t all = tokenizer->size();
  const bool restricted = !flags.restrict_to.empty();
  if (restricted) tokenizer = restrict_to(*tokenizer, read_lines(flags.restrict_to)).tokenizer;
  const std::shared_ptr<LanguageModel> model =
      new_model(flags.config, *tokenizer, !restricted, Seed(flags.seed).derive("weights"));
  save_model_folder(*model, *tokenizer, flags.out);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : model->parameters()) parameters += tensor.numel();
  if (flags.json) {
    print_json({{"verb", "new"},
                {"out", flags.out.string()},
                {"kind", model->kind()},
                {"tokens", tokenizer->size()},
                {"tokens_before", all},
                {"vocabulary", model->vocabulary_size()},
                {"parameters", parameters},
                {"seed", flags.seed}});
    return 0;
  }
  print_text(fmt::format("wrote {}: a {} of {} with random weights\n{}\n", flags.out.string(), model->kind(),
                         counted(parameters, "number", "numbers"),
                         restricted ? fmt::format("{} of {} tokens, those of {}", tokenizer->size(), all,
                                                  flags.restrict_to.string())
                                    : counted(tokenizer->size(), "token", "tokens")));
  return 0;
}

}  // namespace

Verb new_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("new", "Make a model folder with random weights");
  const auto flags = std::make_shared<Flags>();
  app->add_option("--config", flags->config, "its config.json (the vocabulary's size is the tokenizer's)")
      ->required()
      ->option_text("FILE");
  app->add_option("--tokenizer", flags->tokenizer, "folder with the tokenizer's files")
      ->required()
      ->option_text("DIR");
  app->add_option("--restrict-to", flags->restrict_to,
                  "public texts, one a line: keep only their tokens, and what spells all else")
      ->option_text("FILE");
  app->add_option("--out", flags->out, "where the folder goes")->required()->option_text("DIR");
  app->add_option("--seed", flags->seed, "seed of the weights (1)")->option_text("N");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
