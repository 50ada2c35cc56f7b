// A training that was interrupted, on disk: weights, moments and how far it was.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "tensors/named_tensors.h"

namespace undertext {

struct Checkpoint {
  std::string recipe;     // names what is trained, on what and how: another recipe's checkpoint is not taken
  std::int64_t step = 0;  // batches done, over all epochs
  double smooth_loss = 0;
  // The epoch with the lowest perplexity on held-out texts so far, and how many came after it.
  double best_perplexity = std::numeric_limits<double>::infinity();
  std::int64_t epochs_since_best = 0;
  NamedTensors weights, means, squares;
  NamedTensors best;  // weights of that epoch; empty: none yet, or not kept
};

void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file);
// Nothing where there is no file; UserError when it is damaged or of another recipe.
std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& file, const std::string& recipe);

}  // namespace undertext
