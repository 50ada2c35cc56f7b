// The defences that were tried, for the terminal: one table for each threat model, in the order in which one
// would choose, the verdict below it, and what could not be run.
#pragma once

#include <string>

#include "report/results.h"
#include "report/text_table.h"

namespace undertext {

// Empty where no defence was tried. width: columns of the terminal, 0: as many as it takes.
std::string defence_tables(const Results& results, int width, const Painter& paint);

}  // namespace undertext
