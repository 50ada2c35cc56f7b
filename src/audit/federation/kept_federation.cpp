#include "audit/federation/kept_federation.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "audit/experiment/cell_defence.h"
#include "audit/federation/federation_setup.h"
#include "base/error.h"
#include "federated/federation_folder.h"
#include "federated/federation_run.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

// Held by whoever runs the federation; ends with its process.
class Turn {
 public:
  explicit Turn(const fs::path& file) : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) fail("{}: cannot be locked", file.string());
  }
  ~Turn() { ::close(file_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_;
};

}  // namespace

KeptFederation kept_federation(const nlohmann::json& cell, const fs::path& file, const std::string& key,
                               Sources& sources) {
  PreparedFederation prepared = prepare_federation(cell, file, sources);
  const std::unique_ptr<ClientTrainers> trainers = thread_trainers(prepared.parties, prepared.options);
  KeptFederation kept;
  if (const std::optional<fs::path> cache = sources.cache()) {
    const fs::path folder = *cache / "federations" / key.substr(0, 32);
    fs::create_directories(folder.parent_path());
    const Turn turn(folder.string() + ".lock");
    run_federation(prepared.parties, prepared.options, *prepared.tokenizer, prepared.recipe, *trainers,
                   place_at(folder));
    kept.observation = open_federation(folder);
  } else {
    kept.observation =
        simulate_federation(prepared.parties, prepared.options, prepared.tokenizer, *trainers).observation;
  }
  kept.records = std::move(prepared.records);
  kept.watermarks = std::move(prepared.watermarks);
  kept.test = std::move(prepared.test);
  kept.promise = [plan = plan_of(cell.at("defence")),
                  federation = std::make_shared<const PreparedFederation>(std::move(prepared))](
                     std::int64_t rounds) { return promise_of(*federation, plan, rounds); };
  return kept;
}

}  // namespace undertext
