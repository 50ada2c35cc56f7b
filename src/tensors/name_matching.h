// Tensors of a file under the names that a model has for them. Frameworks wrap, shorten and lose names;
// shapes and the model's own list of names bring them back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensors/named_tensors.h"

namespace undertext {

struct WantedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool optional = false;
};

struct MatchOptions {
  // Names that may be there and are left out; * stands for anything: "*.attn.masked_bias".
  std::vector<std::string> ignored;
  // Other names of wanted tensors. Where both are in the file, their values must be equal.
  std::map<std::string, std::string> aliases;
  // Orders in which tensors without names may come, tried in turn: lists of wanted names, aliases and ignored
  // names. None: the order of what is wanted.
  std::vector<std::vector<std::string>> orders;
  // Gives names to the file's tensors in their order, whatever the file calls them: one name a line.
  std::optional<std::filesystem::path> names_file;
  // The file may hold only some of what is wanted, but at least one tensor.
  bool partial = false;
};

// Exactly the wanted tensors that are there, each in its shape. Names may differ by wrappers in front
// ("module."), by a prefix that one of the two sides has ("transformer.") and by LayerNorm's old gamma and
// beta. Anything else that is missing, left over or of another shape is a UserError that begins with where.
NamedTensors match_names(TensorFile file, std::span<const WantedTensor> wanted, const MatchOptions& options,
                         const std::string& where);

// Renames the tensors, in their order, by the lines of names_file.
void give_names(TensorFile& file, const std::filesystem::path& names_file, const std::string& where);

}  // namespace undertext
