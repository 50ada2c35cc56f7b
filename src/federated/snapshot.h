// One global model of a federation in a file: safetensors whose tensors are plain float32, or, where that
// saves enough, bytes that pack_floats() made of them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "models/language_model.h"
#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

// A snapshot is packed as its distance to an earlier one, where that is shorter, which is itself packed from
// nothing: reading any of them reads two files at most.
struct SnapshotBase {
  std::int64_t round = 0;
  const NamedTensors& tensors;
};

// model_hash: of the model before the first round. base: nothing: packed by itself.
void write_snapshot(const std::filesystem::path& file, const NamedTensors& tensors,
                    const std::string& model_hash, const std::optional<SnapshotBase>& base);

// All parameters of `model` after a round, from the bytes of a file of write_snapshot() or of any safetensors
// file with the names and shapes of the model's parameters. base_of: gives the tensors of an earlier round.
// UserError that names the file for everything that does not fit.
NamedTensors read_snapshot(const SharedBytes& bytes, const std::filesystem::path& file,
                           const LanguageModel& model, const std::string& model_hash, std::int64_t round,
                           const std::function<NamedTensors(std::int64_t round)>& base_of);

}  // namespace undertext
