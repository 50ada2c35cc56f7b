#include <charconv>
#include <cstdlib>
#include <string_view>

#include "audit/run/mpi_run.h"

namespace undertext {
namespace {

// Set by Open MPI's mpirun, by PMIx (srun --mpi=pmix) and by PMI-2.
constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

const char* rank_text() {
  for (const char* name : kRankVariables)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return nullptr;
}

}  // namespace

bool started_by_mpi() {
  return rank_text() != nullptr;
}

int mpi_rank() {
  const char* text = rank_text();
  int rank = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), rank);
  return rank;
}

}  // namespace undertext
