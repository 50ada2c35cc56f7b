// Experiments as a store holds them, made up by formula.
#pragma once

#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext::fixture {

// One experiment of two groups with hand-made numbers: epochs 1 (f1 0.8, 0.9, 1.0) and 10 (f1 0.5, one cell
// failed and one pending).
ReportedExperiment small_experiment();

// Like the figures of a paper: F1 over epochs 1 to 1000 for five sizes with three repetitions and a failed
// cell; a scatter of sentences with facets; magnitudes and words of the output bias; noise from 0 on.
std::vector<ReportedExperiment> experiments();

// `experiments` with hostile texts in every place that holds a text.
std::vector<ReportedExperiment> hostile_experiments();

// All its cells pending.
ReportedExperiment pending_experiment();

// `cells` cells, each with a sample of messages and words.
ReportedExperiment large_experiment(int cells, int pairs, int words);

}  // namespace undertext::fixture
