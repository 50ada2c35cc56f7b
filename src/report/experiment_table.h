// The results of experiments as tables of means: for a terminal, and as Markdown.
#pragma once

#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext {

// colour and width as in terminal_table(). Metrics that do not fit the width are left out, those that the
// experiment plots last, and named below the table.
std::string experiment_table(const std::vector<ReportedExperiment>& experiments, bool colour, int width);

std::string experiment_markdown(const std::vector<ReportedExperiment>& experiments);

}  // namespace undertext
