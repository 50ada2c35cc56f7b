// What a client sends, with the facts of the protocol that both sides know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "federated/known_defence.h"
#include "models/language_model.h"
#include "tensors/named_tensors.h"

namespace undertext {

enum class UpdateKind { weights, delta, gradient };  // delta: weights after minus weights before
enum class Reduction { sum, mean };

struct Protocol {
  UpdateKind kind = UpdateKind::weights;
  double learning_rate = 0.001;
  std::int64_t epochs = 1;
  std::int64_t batch = 0;  // sentences per step; 0: all in one
  std::int64_t count = 0;  // sentences the client trained on, sent for FedAvg's weighting; 0: not told
  Reduction reduction = Reduction::sum;
  bool zero_output_bias = false;  // trained from the base with its output bias set to zero
  std::string base_hash;          // hash_of the base model's parameters; empty: the file does not say
  bool kind_inferred = false;     // nobody said what kind it is
  KnownDefence defence = {};      // nothing of it where the file does not say
};

struct Update {
  Protocol protocol;
  NamedTensors tensors;  // only what was trained, under the model's own names
};

const char* name_of(UpdateKind kind);
const char* name_of(Reduction reduction);

void save_update(const Update& update, const std::filesystem::path& file);
// A file that save_update() wrote.
Update load_update(const std::filesystem::path& file);

// What a user can say of an update that another framework wrote.
struct UpdateFacts {
  std::optional<UpdateKind> kind = {};  // nothing: inferred
  std::optional<double> learning_rate = {};
  std::optional<Reduction> reduction = {};
  std::optional<std::int64_t> epochs = {}, batch = {}, count = {};
  std::optional<std::filesystem::path> names = {};  // a file with one name a line, for tensors without

  // Whether anything is said that a file of our own says itself, and might contradict.
  bool any() const;
};

// An update of this model in any format, its tensors brought to the model's own names. Where a file does not
// say how it came about, and `facts` neither: one step on the mean loss at a rate of 1.
Update read_update(const std::filesystem::path& file, const LanguageModel& model,
                   const UpdateFacts& facts = {});

}  // namespace undertext
