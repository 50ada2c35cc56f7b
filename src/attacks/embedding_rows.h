// Rows of the token embedding's gradient: which of them moved, and by how much.
#pragma once

#include <vector>

#include "federated/observation.h"
#include "tensors/tensor_values.h"

namespace undertext {

// Whether the token embedding is the output weight too: then every row moves.
bool tied(const LanguageModel& model);

// The norm of each row of the token embedding's gradient; empty when the update does not hold it.
std::vector<double> embedding_row_norms(const Observation& observation);

// Rows that moved; of a tied embedding, where all do, those whose logarithm lies `cutoff` deviations above
// the mean (decepticons, appendix B).
std::vector<char> moved_rows(const Observation& observation, const std::vector<double>& norms, double cutoff);

// Rows far above the crowd of those that were not read, whatever a few large ones do to mean and deviation.
std::vector<char> outstanding_rows(const std::vector<double>& norms);

}  // namespace undertext
