// Experiments as one self-contained page: plots, tables of means, recovered texts, failures.
#pragma once

#include <string>
#include <vector>

#include "report/experiment.h"
#include "report/page_frame.h"

namespace undertext {

// Texts go in as escaped JSON and reach the page as text only, whatever they hold. The page stays within
// kLargestPage: where it would not, samples are cut, then words, then long texts, then cells; the page says
// so.
std::string experiment_page(const std::vector<ReportedExperiment>& experiments);

}  // namespace undertext
