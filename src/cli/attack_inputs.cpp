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
  app.add_flag("--all", flags.all, "show every line of the answer");
  app.add_flag("--json", flags.json, "print one JSON object");
}

AttackInputs read_attack_inputs(const AttackFlags& flags) {
  ModelFolder folder = load_model_folder(flags.model);
  std::vector<Sentence> truth = flags.truth.read(*folder.tokenizer);
  Update update = load_update(flags.update);
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
  text += protocol.kind == UpdateKind::weights ? " weights" : " gradient";
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
