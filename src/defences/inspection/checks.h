// The checks of an inspection, one kind of place each. They add what they measure, alarming or not.
#pragma once

#include <vector>

#include "base/random.h"
#include "base/threads.h"
#include "defences/inspection/evidence.h"
#include "defences/inspection/statistics.h"
#include "models/transformer/transformer.h"

namespace undertext {

// Rows, outputs and biases of the feed-forward parts.
void check_feed_forward(const Transformer& model, Findings& findings);
// What their neurons answer to random tokens.
void check_neurons(const Transformer& model, Seed seed, Findings& findings);
void check_attention(const Transformer& model, Findings& findings);
void check_embeddings(const Transformer& model, Findings& findings);
void check_norms(const Transformer& model, Findings& findings);
// Any model.
void check_initialisation(const LanguageModel& model, Findings& findings);
void check_previous(const LanguageModel& model, const LanguageModel& previous, Findings& findings);

// Of the feed-forward biases, for check_feed_forward: by layer, the places along the direction which the rows
// share where the neurons switch on. directions: of the rows of `weight`, which belong to `bias`.
std::vector<double> switching_points(const at::Tensor& bias, const RowDirections& directions);
void check_biases_of_layer(const std::string& name, const at::Tensor& bias, const std::vector<double>& points,
                           Findings& findings);
void check_biases_over_layers(const std::string& name, const std::vector<std::vector<double>>& points,
                              Findings& findings);

// Calls body(layer, its findings) for every layer on all threads; the findings are added in the order of
// layers.
template <typename Body>
void for_layers(const Transformer& model, Findings& findings, Body body) {
  const std::size_t layers = model.names().layers.size();
  std::vector<Findings> parts(layers);
  parallel_for(static_cast<std::int64_t>(layers), [&](std::int64_t i) {
    const auto layer = static_cast<std::size_t>(i);
    body(layer, parts[layer]);
  });
  for (const Findings& part : parts) findings.insert(findings.end(), part.begin(), part.end());
}

}  // namespace undertext
