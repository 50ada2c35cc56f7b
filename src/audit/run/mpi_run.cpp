#include "audit/run/mpi_run.h"

// MPI's C++ bindings were withdrawn from the standard; the headers would ask for their library.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>

#include "audit/run/cell_run.h"
#include "audit/run/mpi_messages.h"
#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

using nlohmann::json;

enum Tag : int { kCell = 1, kOutcome, kEnd };

constexpr auto kLook = std::chrono::microseconds(500);

void send(const json& message, int rank, Tag tag) {
  send_message(message.dump(-1, ' ', false, json::error_handler_t::replace), rank, tag);
}

json json_of(const CellOutcome& outcome) {
  return {{"key", outcome.key},         {"failed", outcome.failed},   {"error", outcome.error},
          {"result", outcome.result},   {"seconds", outcome.seconds}, {"peak_memory", outcome.peak_memory},
          {"version", outcome.version}, {"host", outcome.host}};
}

CellOutcome outcome_of(const json& message) {
  CellOutcome outcome;
  outcome.key = message.at("key");
  outcome.failed = message.at("failed");
  outcome.error = message.at("error");
  outcome.result = message.at("result");
  outcome.seconds = message.at("seconds");
  outcome.peak_memory = message.at("peak_memory");
  outcome.version = message.at("version");
  outcome.host = message.at("host");
  return outcome;
}

// Place r is rank r; rank 0 runs its cells in a thread of its own, so that it can go on handing out.
class MpiWorkers : public Workers {
 public:
  MpiWorkers(int ranks, int threads_each, Sources& sources)
      : ranks_(ranks), here_(thread_workers(1, threads_each, sources)) {}

  ~MpiWorkers() override {
    for (int rank = 1; rank < ranks_; ++rank) send(json(), rank, kEnd);
  }

  int places() const override { return ranks_; }

  void start(int place, const FrozenCell& cell) override {
    if (place == 0) return here_->start(0, cell);
    send({{"key", cell.key}, {"config", cell.config}}, place, kCell);
  }

  std::optional<FinishedCell> wait(std::chrono::microseconds most) override {
    const auto end = std::chrono::steady_clock::now() + most;
    do {
      if (const std::optional<MpiMessage> message = arrived_message(kAnyRank))
        return FinishedCell{message->from, outcome_of(json::parse(message->bytes))};
      if (std::optional<FinishedCell> finished = here_->wait(kLook)) return finished;
    } while (std::chrono::steady_clock::now() < end);
    return std::nullopt;
  }

 private:
  int ranks_;
  std::unique_ptr<Workers> here_;
};

}  // namespace

MpiSession::MpiSession() {
  int given = 0;
  // Only the thread that made the session speaks to other ranks.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
  if (given < MPI_THREAD_FUNNELED)
    fail("this MPI cannot be used beside threads, expected MPI_THREAD_FUNNELED");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks_here_);
  MPI_Comm_free(&here);
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

std::unique_ptr<Workers> MpiSession::workers(int threads_each, Sources& sources) {
  UNDERTEXT_CHECK(rank_ == 0);
  return std::make_unique<MpiWorkers>(ranks_, threads_each, sources);
}

void MpiSession::serve(int threads_each, Sources& sources) {
  const ThreadShare share(threads_each);
  CellRunner runner(sources);
  while (true) {
    const MpiMessage message = next_message(0);
    if (message.tag == kEnd) return;
    const json cell = json::parse(message.bytes);
    send(json_of(runner.run({cell.at("key"), cell.at("config")})), 0, kOutcome);
  }
}

}  // namespace undertext
