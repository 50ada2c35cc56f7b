#include "defences/clipping.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace undertext {

Clipping::Clipping(double norm) : norm_(norm) {
  if (!(norm > 0) || !std::isfinite(norm)) fail("clipping: a norm of {}, expected a positive number", norm);
}

void Clipping::on_gradient(NamedTensors& gradient, std::int64_t step) const {
  double squares = 0;
  for (const auto& [name, tensor] : gradient)
    squares += std::pow(at::norm(tensor, 2, at::kDouble).item<double>(), 2);
  if (!std::isfinite(squares))
    fail("clipping: the gradient of step {} is not finite, expected one that has a norm", step + 1);
  const double norm = std::sqrt(squares);
  if (norm <= norm_) return;
  for (auto& [name, tensor] : gradient) tensor.mul_(norm_ / norm);
}

void Clipping::tell(KnownDefence& known, double texts) const {
  (void)texts;
  known.clip = known.clip > 0 ? std::min(known.clip, norm_) : norm_;
}

}  // namespace undertext
