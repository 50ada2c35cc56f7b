// The exact way, for batches that a layer is wide enough for: which tokens and which prefixes were read is
// tested, not guessed (input_span.h).
//
// What enters the first block's attention is known for each token and place: so the tokens of the batch are
// those that fit, as long as there are fewer of them, and of places, than the layer is wide. What enters the
// second block's is known for each prefix: so prefixes are grown by the tokens that fit, as long as the batch
// has fewer prefixes than that. Neither needs the gradient of the embedding, and neither minds how well the
// model predicts. The last token of a text enters nothing; the last block's gradient tells it
// (known_contexts.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"
#include "federated/observation.h"

namespace undertext {

class SpanSearch {
 public:
  SpanSearch(const Observation& observation, std::shared_ptr<const Transformer> model);

  // All tokens but those that only end texts, ascending; nothing: the batch has too many. places: of the
  // longest text, without its last token.
  std::optional<std::vector<Token>> bag(std::int64_t places) const;

  // All texts, each as often as it occurs, where the bag is known and the batch has not too many prefixes;
  // what it gives is to be certified. weight: of one step in the gradient of the last block; 0: unknown.
  std::vector<Sentence> sentences(const Tail& tail, const TailGradient& gradient,
                                  const std::vector<Token>& bag, std::int64_t places, double weight,
                                  const std::function<void(const std::string&)>& trace) const;

 private:
  struct Blocks;

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<const Blocks> blocks_;  // null: the update does not hold them
};

}  // namespace undertext
