// Where the models and texts that an experiment's file names lie on this machine.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace undertext {

// As the file means it: a path from the file's own folder on, whatever the folder of who asks.
std::filesystem::path resolved_place(const std::string& path, const std::filesystem::path& file);

// What a place is called in results: the last part of a folder's or a file's path; of a built-in model with a
// tokenizer from elsewhere both names.
std::string name_of_place(const std::string& place);

// The folder, or the built-in model, that the section `model` of the file names. UserError where there is
// none.
std::string model_place(const nlohmann::json& model, const std::filesystem::path& file);

// The files that the section `texts` names, sorted, or kBuiltIn or kRandom; "{size}" stands for `size`, and
// stars in the last part of the path for anything. UserError where there is none.
std::vector<std::string> text_places(const nlohmann::json& texts, std::int64_t size,
                                     const std::filesystem::path& file);

}  // namespace undertext
