// The same run on many machines: rank 0 hands out cells, or the clients of a federation's round, and is the
// only writer, and every rank, rank 0 too, runs them. Built with or without MPI; without it the program says
// so when it is started by mpirun.
#pragma once

#include <memory>

#include "audit/run/workers.h"
#include "federated/federation.h"

namespace undertext {

// How this process was started, by the environment that mpirun and srun set. Known before MPI is.
bool started_by_mpi();
int mpi_rank();  // 0 outside of MPI

// MPI for as long as it lives; made once in a process that was started by MPI. UserError in a program that
// was built without it.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();  // NOLINT(performance-trivially-destructible): not so with MPI
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int ranks_here() const { return ranks_here_; }  // on this machine

  // Rank 0: all ranks as places. The destructor tells the others that there is no more to do.
  std::unique_ptr<Workers> workers(int threads_each, Sources& sources);
  // Any other rank: runs what rank 0 sends until it says that this was all.
  void serve(int threads_each, Sources& sources);

  // Rank 0: a federation's clients train on all ranks, each of which has the same parties. The destructor
  // tells the others that there are no more rounds.
  std::unique_ptr<ClientTrainers> trainers(const FederationParties& parties,
                                           const FederationOptions& options);
  // Any other rank: trains what rank 0 sends until it says that this was all.
  void serve_clients(const FederationParties& parties, const FederationOptions& options);

 private:
  int rank_ = 0, ranks_ = 1, ranks_here_ = 1;
};

}  // namespace undertext
