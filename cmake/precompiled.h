// The headers that cost seconds to parse, compiled once for every room and test.
#pragma once

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>
