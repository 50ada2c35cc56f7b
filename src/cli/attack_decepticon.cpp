// undertext attack decepticon: read the gradient of a corrupted state.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "attacks/decepticons/readout.h"
#include "base/error.h"
#include "cli/attack_inputs.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "metrics/sequence_scores.h"
#include "text/sequences.h"

namespace undertext {
namespace {

struct Flags : AttackFlags {
  std::filesystem::path key;
  std::string method = "best";
  std::int64_t sequences = 0;
  DecepticonOptions options;
  std::uint64_t seed = 1;
};

DecepticonKey read_key(const Flags& flags) {
  const std::filesystem::path file = flags.key.empty() ? key_file_of(flags.model) : flags.key;
  if (flags.key.empty() && !std::filesystem::exists(file))
    fail("{}: no such file, expected the state's key (undertext server corrupt writes it; --key FILE)",
         file.string());
  return load_key(file);
}

// The truth as the client cut it: the first sequences, where the update says how many they are.
nlohmann::json scores_of(const DecepticonRecovery& recovery, const AttackInputs& inputs) {
  if (inputs.truth.empty()) return nlohmann::json::object();
  std::vector<Sentence> truth = cut_into_sequences(inputs.truth, recovery.length, "--truth");
  const std::int64_t count = inputs.observation.update.protocol.count;
  if (count > 0 && count < std::ssize(truth)) truth.resize(static_cast<std::size_t>(count));
  std::vector<Sentence> found;
  std::vector<std::vector<double>> confidence;
  std::vector<std::vector<bool>> certified;
  for (const RecoveredSequence& sequence : recovery.sequences) {
    found.push_back(sequence.ids);
    confidence.push_back(sequence.confidence);
    certified.push_back(sequence.certified);
  }
  return score_sequences(truth, found, {confidence, certified});
}

nlohmann::json json_of(const Flags& flags, const DecepticonKey& key, const DecepticonRecovery& recovery,
                       const AttackInputs& inputs) {
  nlohmann::json sequences = nlohmann::json::array();
  for (const RecoveredSequence& sequence : recovery.sequences)
    sequences.push_back({{"ids", sequence.ids},
                         {"text", inputs.tokenizer->decode(sequence.ids)},
                         {"confidence", sequence.confidence},
                         {"certified", sequence.certified}});
  return {{"attack", "decepticon"},
          {"method", flags.method},
          {"design", name_of(key.design)},
          {"length", recovery.length},
          {"sequences", sequences},
          {"scores", scores_of(recovery, inputs)},
          {"threat_model", "malicious-server"}};
}

std::string text_of(const Flags& flags, const DecepticonKey& key, const DecepticonRecovery& recovery,
                    const AttackInputs& inputs) {
  std::int64_t tokens = 0, certified = 0;
  for (const RecoveredSequence& sequence : recovery.sequences) {
    tokens += static_cast<std::int64_t>(sequence.ids.size());
    certified += std::ranges::count(sequence.certified, true);
  }
  std::string text = fmt::format(
      "{} of {} read from {}\n"
      "who reads:  a malicious server: it chose the weights (design {}) and sees this one update\n"
      "update:     {}\n"
      "certified:  {} of {}\n",
      counted(static_cast<std::int64_t>(recovery.sequences.size()), "sequence", "sequences"),
      counted(recovery.length, "token", "tokens"), flags.update.string(), name_of(key.design),
      protocol_text(inputs.observation.update.protocol), certified, counted(tokens, "token", "tokens"));
  if (!inputs.truth.empty()) {
    const nlohmann::json scores = scores_of(recovery, inputs);
    text += fmt::format(
        "scores:     {:.3f} of tokens in their place, {:.3f} in any; BLEU {:.3f}, ROUGE-L {:.3f}\n",
        scores.at("total_accuracy").get<double>(), scores.at("token_accuracy").get<double>(),
        scores.at("bleu").get<double>(), scores.at("rouge_l").get<double>());
  }
  const std::size_t total = recovery.sequences.size();
  const std::size_t shown = flags.all ? total : std::min(total, kFirstLines);
  text += "\n";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("  {}\n", inputs.tokenizer->decode(recovery.sequences[i].ids));
  return text + rest_text(total, shown);
}

int run(Flags flags) {
  const DecepticonKey key = read_key(flags);
  if (flags.count > 0 && flags.sequences > 0 && flags.count != flags.sequences)
    fail("--count {} and --sequences {} say the same thing differently, expected one of them", flags.count,
         flags.sequences);
  if (flags.sequences > 0) flags.count = flags.sequences;
  const AttackInputs inputs = read_attack_inputs(flags);
  const std::int64_t said = inputs.observation.update.protocol.count;
  if (flags.count > 0 && said > 0 && flags.count != said)
    fail("{}: is of {}, expected {} as --sequences says", flags.update.string(),
         counted(said, "sequence", "sequences"), flags.count);
  flags.options.sequences = flags.count > 0 ? flags.count : said;
  flags.options.seed = Seed(flags.seed);
  DecepticonRecovery recovery;
  try {
    recovery = flags.method == "paper" ? read_as_in_paper(inputs.observation, key, flags.options)
                                       : read_exactly(inputs.observation, key, flags.options);
  } catch (const UserError& error) {
    fail("{}: {}", flags.update.string(), error.what());
  }
  flags.json ? print_json(json_of(flags, key, recovery, inputs))
             : print_text(text_of(flags, key, recovery, inputs));
  return 0;
}

}  // namespace

Verb attack_decepticon_verb(CLI::App& attack) {
  CLI::App* app =
      attack.add_subcommand("decepticon", "Read the gradient of a state that a malicious server corrupted");
  const auto flags = std::make_shared<Flags>();
  add_attack_flags(*app, *flags);
  app->add_option("--key", flags->key, "the key of the state (DIR.key.json beside the model)")
      ->option_text("FILE");
  app->add_option("--sequences", flags->sequences, "number of sequences (as the update says or shows)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->option_text("B");
  app->add_option("--length", flags->options.length, "tokens per sequence (as the gradient shows)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->option_text("S");
  app->add_option("--method", flags->method,
                  "paper: as published; best: ours, which also reads tokens that share a bin (best)")
      ->check(CLI::IsMember({"paper", "best"}))
      ->option_text("NAME");
  app->add_option("--bag-cutoff", flags->options.bag_cutoff,
                  "of tied embeddings: how far a token's row stands out, in deviations (1.5)")
      ->check(CLI::Range(-100.0, 100.0))
      ->option_text("F");
  app->add_option("--seed", flags->seed, "seed of what is drawn, such as first clusters (1)")
      ->option_text("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
