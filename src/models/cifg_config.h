// config.json of a CIFG LSTM.
#pragma once

#include <filesystem>

#include "models/cifg_lstm.h"

namespace undertext {

CifgConfig read_cifg_config(const std::filesystem::path& file);  // UserError for whatever is missing or odd
void write_cifg_config(const std::filesystem::path& file, const CifgConfig& config);

}  // namespace undertext
