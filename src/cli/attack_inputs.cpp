#include "cli/attack_inputs.h"

#include "base/error.h"
#include "cli/output.h"
#include "models/load_model.h"

namespace undertext {

void add_attack_flags(CLI::App& app, AttackFlags& flags) {
  app.add_option("--model", flags.model, "folder of the model that the server sent out")
      ->required()
      ->option_text("DIR");
  app.add_option("--update", flags.update, "what the client sent back (see undertext client)")
      ->required()
      ->option_text("FILE");
  flags.truth.add_flags(
      app, {"--truth", "--truth-ids", "the true texts, which add scores and change nothing else"});
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  app.add_option("--kind", flags.kind,
                 "of an update from elsewhere: weights, delta (after - before) or gradient (inferred)")
      ->check(CLI::IsMember({"weights", "delta", "gradient"}))
      ->option_text("NAME");
  app.add_option("--lr", flags.learning_rate, "of an update from elsewhere: the client's learning rate (1)")
      ->check(CLI::Range(1e-30, 1e30))
      ->option_text("RATE");
  app.add_option("--reduction", flags.reduction, "of an update from elsewhere: its loss, sum or mean (mean)")
      ->check(CLI::IsMember({"sum", "mean"}))
      ->option_text("NAME");
  app.add_option("--epochs", flags.epochs, "of an update from elsewhere: passes over the texts (1)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("E");
  app.add_option("--batch", flags.batch, "of an update from elsewhere: texts per step (all in one)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("B");
  app.add_option("--names", flags.names, "one name a line for an update whose tensors have none")
      ->option_text("FILE");
  app.add_option("--count", flags.count, "number of texts, if known")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->option_text("N");
  app.add_flag("--all", flags.all, "show every line of the answer");
  app.add_flag("--json", flags.json, "print one JSON object");
}

namespace {

UpdateFacts facts_of(const AttackFlags& flags) {
  UpdateFacts facts;
  if (flags.kind == "weights") facts.kind = UpdateKind::weights;
  if (flags.kind == "delta") facts.kind = UpdateKind::delta;
  if (flags.kind == "gradient") facts.kind = UpdateKind::gradient;
  if (!flags.reduction.empty()) facts.reduction = flags.reduction == "sum" ? Reduction::sum : Reduction::mean;
  if (flags.learning_rate > 0) facts.learning_rate = flags.learning_rate;
  if (flags.epochs > 0) facts.epochs = flags.epochs;
  if (flags.batch > 0) facts.batch = flags.batch;
  if (flags.count > 0) facts.count = flags.count;
  if (!flags.names.empty()) facts.names = flags.names;
  return facts;
}

}  // namespace

AttackInputs read_attack_inputs(const AttackFlags& flags) {
  ModelFolder folder = load_model_folder(flags.model);
  std::vector<Sentence> truth = flags.truth.read(*folder.tokenizer);
  Update update = read_update(flags.update, *folder.model, facts_of(flags));
  try {
    Observation observation = observe(folder.model, folder.hash, std::move(update));
    return {std::move(folder.tokenizer), std::move(observation), std::move(truth)};
  } catch (const UserError& error) {
    fail("{}: {}", flags.update.string(), error.what());
  }
}

std::string protocol_text(const Protocol& protocol) {
  const bool one_step = protocol.epochs == 1 &&
                        (protocol.batch == 0 || (protocol.count > 0 && protocol.batch >= protocol.count));
  std::string text = one_step ? "FedSGD" : "FedAvg";
  text += fmt::format(" {}{}", name_of(protocol.kind), protocol.kind_inferred ? " (inferred)" : "");
  if (!one_step) {
    text += ", " + counted(protocol.epochs, "epoch", "epochs");
    text += protocol.batch == 0 ? ", all in one batch" : fmt::format(", batch {}", protocol.batch);
  }
  text += fmt::format(", learning rate {}, {} over words", protocol.learning_rate,
                      protocol.reduction == Reduction::sum ? "sum" : "mean");
  if (protocol.zero_output_bias) text += ", output bias zeroed";
  if (protocol.count > 0) text += ", " + counted(protocol.count, "message", "messages");
  return text;
}

std::string threat_model_text() {
  return "a curious server: it sees the model it sent out and this one update, and no text";
}

std::string rest_text(std::size_t total, std::size_t shown) {
  return shown < total ? fmt::format("  ... and {} more (--all shows them)\n", total - shown) : "";
}

}  // namespace undertext
