// In the place of mpi_run.cpp and the like in a program that is built without MPI.
#include "audit/run/mpi_run.h"
#include "base/error.h"

namespace undertext {

MpiSession::MpiSession() {
  fail(
      "started by mpirun, but built without MPI: install the [mpi] packages of packages.txt, remove build/ "
      "and build "
      "again");
}

MpiSession::~MpiSession() = default;

std::unique_ptr<Workers> MpiSession::workers(int threads_each, Sources& sources) {
  return thread_workers(ranks_, threads_each, sources);
}

void MpiSession::serve(int threads_each, Sources& sources) {
  (void)threads_each, (void)sources;
}

std::unique_ptr<ClientTrainers> MpiSession::trainers(const FederationParties& parties,
                                                     const FederationOptions& options) {
  return thread_trainers(parties, options);
}

void MpiSession::serve_clients(const FederationParties& parties, const FederationOptions& options) {
  (void)parties, (void)options;
}

}  // namespace undertext
