#include "federated/federation_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/sha256.h"
#include "federated/federation_folder.h"
#include "federated/server_log.h"
#include "models/new_model.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const char* name_of(Optimiser optimiser) {
  return optimiser == Optimiser::adam ? "adam" : "sgd";
}

// What clients are told.
json local_facts(const FederationParties& parties, const FederationOptions& options) {
  const LocalTraining& local = options.local;
  json facts = {{"epochs", local.epochs},
                {"batch", local.batch},
                {"learning_rate", local.learning_rate},
                {"optimiser", name_of(local.optimiser)},
                {"reduction", undertext::name_of(local.reduction)},
                {"train", local.train_embedding ? "all" : "all-but-embedding"},
                {"dropout", local.dropout},
                {"clip_norm", local.clip_norm},
                {"clip_value", local.clip_value},
                {"carry_state", local.carry_state},
                {"sequence", parties.clients.front().sequence}};
  if (local.sampling == Sampling::poisson) facts["sampling"] = "poisson";
  return facts;
}

void add(Sha256& hash, const ClientTexts& texts) {
  hash.add_number(static_cast<std::uint64_t>(texts.sequence));
  hash.add_number(texts.texts.size());
  for (const Sentence& text : texts.texts) {
    hash.add_number(text.size());
    hash.add(text.data(), text.size() * sizeof(Token));
  }
}

// A name for everything that determines the rounds, but not how many there are.
std::string recipe_of(const FederationParties& parties, const FederationOptions& options,
                      const Tokenizer& tokenizer, const std::string& more) {
  const Selection& selection = options.selection;
  const Plateau& plateau = options.plateau;
  Sha256 hash;
  hash.add_string(hash_of(parties.model->parameters()));
  for (Token id = 0; id < tokenizer.size(); ++id) hash.add_string(tokenizer.token(id));
  for (const ClientTexts& client : parties.clients) add(hash, client);
  add(hash, parties.validation);
  hash.add_string(local_facts(parties, options).dump());
  hash.add_string(fmt::format("{} {} {} {} {} {} {}", static_cast<int>(selection.rule), selection.per_round,
                              selection.drop_out, plateau.rounds, plateau.factor, plateau.patience,
                              options.seed.value()));
  hash.add_string(json(selection.schedule).dump());
  hash.add_string(more);
  return hash.hex();
}

// Held for as long as a process runs a federation; ends with the process, however that ends.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (descriptor_ >= 0) ::close(descriptor_);
      fail("{}: another process runs this federation", folder.string());
    }
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Files that a killed process had only half written (base/files.h): ".NAME.PID-N.tmp".
void remove_leftovers(const fs::path& folder, const std::string& name = "") {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("." + name) && file.ends_with(".tmp")) fs::remove_all(entry.path(), ignored);
  }
}

std::vector<TookPart> parts_of(const RoundOutcome& round, std::int64_t clients) {
  std::vector<TookPart> parts(static_cast<std::size_t>(clients), TookPart::no);
  for (const std::int64_t client : round.answered) parts[static_cast<std::size_t>(client)] = TookPart::yes;
  return parts;
}

class FolderRun {
 public:
  FolderRun(const FederationParties& parties, const FederationOptions& options, const Tokenizer& tokenizer,
            const std::string& recipe, const FederationPlace& place)
      : parties_(parties), options_(options), place_(place) {
    log_.recipe = recipe_of(parties, options, tokenizer, recipe);
    const std::optional<ServerLog> found = read_server_log(place.log, log_.recipe);
    // The log comes first: a folder without one is somebody else's.
    if (!found) check_new_folder(place.folder);
    const Selection& selection = options.selection;
    const bool varies =
        selection.rule == SelectionRule::scheduled || selection.rule == SelectionRule::poisson;
    const std::int64_t per_round = varies ? 0 : selection.per_round;
    if (!found) write_server_log(log_, place.log);
    writer_.emplace(place.folder, parties, per_round, tokenizer, local_facts(parties, options));
    lock_.emplace(place.folder);
    clean();
    if (found) resume(*found);
  }

  FederationSummary run(ClientTrainers& trainers, const AfterRound& after_round) {
    std::optional<FederationProgress> done;
    if (resumed_ > 0) {
      FederationProgress progress{log_.first_loss, log_.rounds, nullptr};
      progress.model = parties_.model->with(writer_->round(resumed_));
      done = std::move(progress);
    }
    FederationServer server(parties_, options_, trainers, std::move(done));
    log_.first_loss = server.progress().first_loss;
    if (after_round) after_round(server);
    while (!server.ended()) {
      log_.rounds.push_back(server.round());
      // In this order: what the log names is in the folder.
      writer_->write(std::ssize(log_.rounds), server.progress().model->parameters(),
                     parts_of(log_.rounds.back(), std::ssize(parties_.clients)));
      write_server_log(log_, place_.log);
      if (after_round) after_round(server);
    }
    return {server.progress(), server.stopped_early(), resumed_};
  }

 private:
  void clean() const {
    const fs::path parent = place_.log.has_parent_path() ? place_.log.parent_path() : fs::path(".");
    remove_leftovers(place_.folder);
    remove_leftovers(place_.folder / "rounds");
    remove_leftovers(parent, place_.log.filename().string() + ".");
    const fs::path clean = (place_.folder / "").parent_path();
    remove_leftovers(parent, clean.filename().string() + ".");
  }

  void resume(const ServerLog& found) {
    resumed_ = std::min<std::int64_t>(std::ssize(found.rounds), writer_->rounds());
    if (resumed_ > options_.rounds)
      fail("{}: holds {} rounds already, expected {} at most (federation.rounds)", place_.folder.string(),
           resumed_, options_.rounds);
    log_.first_loss = found.first_loss;
    log_.rounds.assign(found.rounds.begin(), found.rounds.begin() + resumed_);
  }

  const FederationParties& parties_;
  const FederationOptions& options_;
  const FederationPlace& place_;
  ServerLog log_;
  std::optional<FederationWriter> writer_;
  std::optional<FolderLock> lock_;
  std::int64_t resumed_ = 0;
};

}  // namespace

FederationPlace place_at(const fs::path& folder) {
  const fs::path clean = (folder / "").parent_path();  // without a slash at the end
  return {clean, clean.string() + ".server.json"};
}

FederationSummary run_federation(const FederationParties& parties, const FederationOptions& options,
                                 const Tokenizer& tokenizer, const std::string& recipe,
                                 ClientTrainers& trainers, const FederationPlace& place,
                                 const AfterRound& after_round) {
  check_federation(parties, options);
  return FolderRun(parties, options, tokenizer, recipe, place).run(trainers, after_round);
}

SimulatedFederation simulate_federation(const FederationParties& parties, const FederationOptions& options,
                                        std::shared_ptr<const Tokenizer> tokenizer, ClientTrainers& trainers,
                                        const AfterRound& after_round) {
  FederationServer server(parties, options, trainers);
  auto models = std::make_shared<std::vector<std::shared_ptr<const LanguageModel>>>();
  models->push_back(parties.model);
  SimulatedFederation made;
  FederationObservation& observation = made.observation;
  if (after_round) after_round(server);
  while (!server.ended()) {
    const RoundOutcome& round = server.round();
    models->push_back(server.progress().model);
    observation.took_part.push_back(parts_of(round, std::ssize(parties.clients)));
    if (after_round) after_round(server);
  }
  made.summary = {server.progress(), server.stopped_early(), 0};
  observation.clients = std::ssize(parties.clients);
  observation.rounds = std::ssize(*models) - 1;
  observation.tokenizer = std::move(tokenizer);
  observation.model = [models](std::int64_t round) { return models->at(static_cast<std::size_t>(round)); };
  return made;
}

}  // namespace undertext
