#include "metrics/entity_scores.h"

#include <algorithm>
#include <iterator>

namespace undertext {
namespace {

double shared(std::span<const std::string> truth, std::span<const std::string> recovered) {
  std::vector<std::string> both;
  std::ranges::set_intersection(truth, recovered, std::back_inserter(both));
  return static_cast<double>(both.size());
}

}  // namespace

std::vector<std::string> entities_of(const EntityFinder& finder, std::string_view text) {
  std::vector<std::string> texts;
  for (Entity& entity : finder.find(text)) texts.push_back(std::move(entity.text));
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::optional<double> entity_f1(std::span<const std::string> truth, std::span<const std::string> recovered) {
  if (truth.empty()) return std::nullopt;
  return 2 * shared(truth, recovered) / static_cast<double>(truth.size() + recovered.size());
}

std::optional<double> entity_recall(std::span<const std::string> truth,
                                    std::span<const std::string> recovered) {
  if (truth.empty()) return std::nullopt;
  return shared(truth, recovered) / static_cast<double>(truth.size());
}

}  // namespace undertext
