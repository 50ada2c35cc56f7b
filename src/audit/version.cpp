#include "audit/version.h"

#include <cblas.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <sstream>

namespace undertext {

std::string all_versions() {
  // "OpenBLAS 0.3.21 ..."; the rest says how it was built.
  std::istringstream config(openblas_get_config());
  std::string name, number;
  config >> name >> number;
  return fmt::format("{} (torch {}, {} {} {})", kVersion, TORCH_VERSION, name, number,
                     openblas_get_corename());
}

}  // namespace undertext
