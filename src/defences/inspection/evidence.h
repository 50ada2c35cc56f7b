// What speaks against a server's state: one number of one tensor, measured against what honest states show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace undertext {

enum class EvidenceKind {
  parallel_rows,       // neurons that all measure the same
  twin_neurons,        // the same, in the directions that inputs use
  same_answers,        // the same, seen from what they answer
  parallel_outputs,    // neurons that all say the same
  one_live_output,     // one output of the feed-forward part carries everything
  ordered_biases,      // biases that rise or fall from neuron to neuron
  layered_biases,      // biases that go on from layer to layer
  even_biases,         // biases spaced as no sample is
  dead_attention,      // attention without a say
  copying_projection,  // the identity, or copies of single entries
  constant_query,      // a query that is all bias
  uniform_attention,   // queries or keys that are zero
  reserved_entries,    // entries of the embedding that hold nothing
  separate_blocks,     // tokens and positions in entries of their own
  even_entries,        // an embedding's entry spaced as no sample is
  one_live_column,     // an output layer that reads one entry
  one_live_norm,       // a norm that lets one entry through
  huge_values,         // numbers that no training reaches
  exact_zeros,         // blocks of zeros
  improbable_scale,    // far from every common initialisation
  improbable_tails,    // a few entries carry all
  replaced,            // no step of training away from the state before
};

struct EvidenceInfo {
  const char* name;
  double weight;  // how much it says against a state by itself, in (0, 1)
  double honest;  // the largest value that honest states showed
};

const EvidenceInfo& info_of(EvidenceKind kind);

struct Evidence {
  std::string tensor;
  EvidenceKind kind;
  double value, threshold;  // larger is worse, for every kind
  std::string says;

  bool counts() const { return value >= threshold; }
};

using Findings = std::vector<Evidence>;

// Ratios to nothing stop here: JSON knows no infinity.
inline constexpr double kLargestRatio = 1e9;

}  // namespace undertext
