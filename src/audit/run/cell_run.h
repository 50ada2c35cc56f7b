// One cell, run: a client trains, its update is attacked, what was read is scored; or a whole federation's
// rounds are.
#pragma once

#include <memory>
#include <string>

#include "attacks/recovery.h"
#include "audit/experiment/sources.h"
#include "audit/store/result_store.h"
#include "metrics/sequence_scores.h"

namespace undertext {

class CellServer;
class RecordCells;

// Keeps the last update, for cells that attack the same one. One thread at a time.
class CellRunner {
 public:
  explicit CellRunner(Sources& sources);
  ~CellRunner();

  // Whatever goes wrong is an outcome too. The result depends on the cell alone: not on the thread count, the
  // machine's name, or what ran before.
  CellOutcome run(const FrozenCell& cell);

 private:
  struct Attacked;
  const Attacked& attacked(const nlohmann::json& config);
  static nlohmann::json read_words(const nlohmann::json& attack, const Attacked& update);
  static nlohmann::json read_sentences(const nlohmann::json& attack, const Attacked& update);
  static nlohmann::json match_gradient(const nlohmann::json& config, const Attacked& update,
                                       const EntityFinder& entities);
  static nlohmann::json read_sequences(const nlohmann::json& config, const Attacked& update);
  static nlohmann::json read_film(const nlohmann::json& config, const Attacked& update,
                                  const EntityFinder& entities);
  static nlohmann::json scored_sequences(const std::vector<Sentence>& found, const TokenBeliefs& beliefs,
                                         const Attacked& update);
  static nlohmann::json scored(const SentenceRecovery& recovery, const Attacked& update);
  EntityFinder entities_of(const nlohmann::json& config);
  nlohmann::json result_of(const nlohmann::json& config);

  Sources& sources_;
  std::shared_ptr<const ModelFolder> trained_;  // of the last cell: others may want it too
  std::unique_ptr<CellServer> server_;
  std::unique_ptr<RecordCells> records_;
  std::unique_ptr<Attacked> last_;
};

}  // namespace undertext
