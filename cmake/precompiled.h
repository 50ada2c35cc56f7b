// The headers that cost seconds to parse, compiled once for every room and test. ATen, not the whole of torch:
// with torch/torch.h in here the compiler takes longer to load it all than most sources take to compile.
#pragma once

#ifdef __clang__
#include <ATen/core/ivalue.h>  // first, or clang takes torch 1.13 with the standard library of gcc 12 for wrong
#endif
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>
