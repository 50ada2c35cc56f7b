#include "defences/inspection/evidence.h"

#include "base/error.h"

namespace undertext {

const EvidenceInfo& info_of(EvidenceKind kind) {
  static constexpr EvidenceInfo kInfo[] = {
      {"parallel_rows", 0.9, ""},    {"twin_neurons", 0.9, ""},      {"parallel_outputs", 0.6, ""},
      {"one_live_output", 0.7, ""},  {"ordered_biases", 0.7, ""},    {"layered_biases", 0.5, ""},
      {"even_biases", 0.6, ""},      {"dead_attention", 0.3, ""},    {"copying_projection", 0.6, ""},
      {"constant_query", 0.6, ""},   {"uniform_attention", 0.3, ""}, {"reserved_entries", 0.4, ""},
      {"separate_blocks", 0.6, ""},  {"even_entries", 0.6, ""},      {"one_live_column", 0.7, ""},
      {"one_live_norm", 0.6, ""},    {"huge_values", 0.7, ""},       {"exact_zeros", 0.3, ""},
      {"improbable_scale", 0.3, ""}, {"improbable_tails", 0.2, ""},  {"replaced", 0.6, ""},
  };
  const auto i = static_cast<std::size_t>(kind);
  UNDERTEXT_CHECK(i < std::size(kInfo));
  return kInfo[i];
}

}  // namespace undertext
