// What a client does to its model's inside while it trains, so that the model remembers less (record-level,
// section VI): on what comes out of the token embedding, and between the layers.
#pragma once

#include <optional>

namespace undertext {

struct Perturbation {
  double embedding_noise = 0;    // deviation of Gaussian noise on the embedding's output
  double embedding_dropout = 0;  // share of the embedding's output that is set to zero, the rest scaled up
  double adversarial = 0;        // eq. 13: norm of a step that raises the loss; both losses are trained on
  std::optional<double> layer_dropout = std::nullopt;  // in place of the dropout of the model's config

  bool any() const {
    return embedding_noise > 0 || embedding_dropout > 0 || adversarial > 0 || layer_dropout.has_value();
  }
};

}  // namespace undertext
