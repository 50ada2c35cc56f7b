// How many of a text's named entities were recovered (film, section 6.1 and its published code).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/entities.h"

namespace undertext {

// The distinct entities of a text, sorted.
std::vector<std::string> entities_of(const EntityFinder& finder, std::string_view text);

// Named-entity recovery ratio of two such lists as the published code has it: F1 of the two sets. Nothing
// where the true text has none.
std::optional<double> entity_f1(std::span<const std::string> truth, std::span<const std::string> recovered);
// As the paper words it: the share of the original entities that were recovered.
std::optional<double> entity_recall(std::span<const std::string> truth,
                                    std::span<const std::string> recovered);

}  // namespace undertext
