#include "defences/inspection/evidence.h"

#include <iterator>

#include "base/error.h"

namespace undertext {

// Weights: .5 and more alarm by themselves, and are given to what no honest training was seen to come near;
// less to what some initialisations or published models may show. docs/inspection.md tells how the last
// column was measured.
const EvidenceInfo& info_of(EvidenceKind kind) {
  static constexpr EvidenceInfo kInfo[] = {
      {"parallel_rows", 0.9, 0.28},      {"twin_neurons", 0.9, 0},       {"same_answers", 0.5, 0.2},
      {"parallel_outputs", 0.6, 0.4},    {"one_live_output", 0.7, 0.37}, {"ordered_biases", 0.7, 0.39},
      {"layered_biases", 0.4, 0.87},     {"even_biases", 0.6, 0.27},     {"dead_attention", 0.3, 1.1},
      {"copying_projection", 0.6, 0.35}, {"constant_query", 0.6, 0.61},  {"uniform_attention", 0.3, 0.8},
      {"reserved_entries", 0.4, 0},      {"separate_blocks", 0.4, 0.16}, {"even_entries", 0.6, 0.12},
      {"one_live_column", 0.7, 0.13},    {"one_live_norm", 0.6, 0.1},    {"huge_values", 0.7, 8.8},
      {"exact_zeros", 0.3, 0.03},        {"improbable_scale", 0.3, 1.2}, {"improbable_tails", 0.2, 45},
      {"replaced", 0.6, 0.12},
  };
  const auto i = static_cast<std::size_t>(kind);
  UNDERTEXT_CHECK(i < std::size(kInfo));
  return kInfo[i];
}

}  // namespace undertext
