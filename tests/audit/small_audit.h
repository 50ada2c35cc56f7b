// An audit small enough for tests: a model that learns next to nothing, clients of a few messages.
#pragma once

#include <vector>

#include "audit/keyboard_audit.h"
#include "base/temporary_folder.h"

namespace undertext {

inline PublicModelRecipe small_recipe() {
  PublicModelRecipe recipe;
  recipe.messages = 200;
  recipe.vocabulary = 150;
  recipe.embedding = 12;
  recipe.units = 16;
  recipe.training.epochs = 1;
  return recipe;
}

inline AuditOptions small_audit(const std::filesystem::path& cache, std::vector<std::string>& notes) {
  AuditOptions options;
  options.cache = cache;
  options.recipe = small_recipe();
  options.sizes = {4, 6};
  options.protocols = {{"FedSGD", 1, 0, {"noise-per-step:sigma=0.1"}},
                       {"FedAvg", 1, 5, {}},
                       {"FedAvg", 2, 5, {"noise-per-step:sigma=10"}}};
  options.held_out = 20;
  options.utility_rounds = 1;
  options.utility_messages = 8;
  options.note = [&notes](const std::string& text) { notes.push_back(text); };
  return options;
}

}  // namespace undertext
