// The index of a model in several files, as Hugging Face writes it: {"weight_map": {name: file beside it}}.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tensors/named_tensors.h"

namespace undertext {

// The file of each name. A file is a plain name: none may lead out of the index's folder. UserError, which
// begins with file, for anything else.
std::map<std::string, std::string> parse_sharded_index(std::string_view json, const std::string& file);

// All tensors of all shards, which read_shard gives by their names. A shard may hold more than the index says
// of it, but never less, and no tensor may be in two.
TensorFile read_sharded(std::string_view json, const std::string& file,
                        const std::function<TensorFile(const std::string&)>& read_shard);

}  // namespace undertext
