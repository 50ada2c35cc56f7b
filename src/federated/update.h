// What a client sends, with the facts of the protocol that both sides know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tensors/named_tensors.h"

namespace undertext {

enum class UpdateKind { weights, gradient };
enum class Reduction { sum, mean };

struct Protocol {
  UpdateKind kind = UpdateKind::weights;
  double learning_rate = 0.001;
  std::int64_t epochs = 1;
  std::int64_t batch = 0;  // sentences per step; 0: all in one
  std::int64_t count = 0;  // sentences the client trained on, sent for FedAvg's weighting; 0: not told
  Reduction reduction = Reduction::sum;
  bool zero_output_bias = false;  // trained from the base with its output bias set to zero
  std::string base_hash;          // hash_of the base model's parameters
};

struct Update {
  Protocol protocol;
  NamedTensors tensors;  // only what was trained, under the model's own names
};

void save_update(const Update& update, const std::filesystem::path& file);
Update load_update(const std::filesystem::path& file);

}  // namespace undertext
