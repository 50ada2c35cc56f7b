#include "audit/told_defence.h"

#include <fmt/ranges.h>

#include <vector>

namespace undertext {
namespace {

struct Uses {
  bool noise = false;  // known_noise() of federated/observation.h
  bool clip = false;   // counts_are_whole(), or the norm itself
  bool prune = false;  // that what is zero says nothing
};

// Of the attacks as they are: whoever teaches one to use more, says so here.
Uses uses_of(const std::string& attack, const std::string& method, UpdateKind kind) {
  if (attack == "records") return {};
  if (method == "film") return {.noise = true, .clip = true};
  if (method == "tag" || method == "dlg") return {.clip = true, .prune = true};
  // The keyboard's attacks; those of transformers, whose clients send gradients, go by counts alone or by the
  // state that the server made.
  const bool keyboard = kind == UpdateKind::weights;
  return {.noise = keyboard, .clip = keyboard || attack == "words"};
}

}  // namespace

std::optional<std::string> told_of(const std::string& attack, const std::string& method,
                                   const DefencePlan& plan, const Protocol& protocol) {
  const Uses uses = uses_of(attack, method, protocol.kind);
  const KnownDefence& known = protocol.defence;
  // One that knows half of what is done to an update and takes the rest for none is not adaptive.
  const bool noisy = known.noise_per_step > 0 || known.noise_on_result > 0;
  const bool clipped = known.clip > 0 || known.text_clip > 0;
  if ((noisy && !uses.noise) || (clipped && !uses.clip) || (known.pruned > 0 && !uses.prune))
    return std::nullopt;
  std::vector<std::string> told;
  if (noisy) told.emplace_back("the deviation of the noise");
  if (known.clip > 0) told.emplace_back("that gradients are clipped");
  if (known.text_clip > 0) told.emplace_back("that each text's gradient is clipped");
  if (known.pruned > 0) told.emplace_back("that what is zero was pruned");
  if (plan.find("frozen-embedding") != nullptr && attack != "records")
    told.emplace_back("that the embedding is not sent");
  if (plan.find("secure-aggregation") != nullptr)
    told.emplace_back(attack == "records" ? "that sums hide updates, which it never sees"
                                          : "how many clients are summed, not whose text is whose");
  if (plan.find("characters") != nullptr) told.emplace_back("the model of letters");
  if (plan.find("vocabulary") != nullptr && attack != "records")
    told.emplace_back("which words are left; of the others there is nothing to read");
  if (told.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(told, ", "));
}

}  // namespace undertext
