// The state before: training moves weights, it does not replace them.
#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "defences/inspection/checks.h"

namespace undertext {
namespace {

struct Change {
  double cosine;    // between before and after
  double relative;  // size of the change by that of what was before
};

constexpr std::int64_t kPiece = 1 << 18;

Change change_of(const at::Tensor& after, const at::Tensor& before) {
  const std::int64_t n = after.numel(), pieces = (n + kPiece - 1) / kPiece;
  struct Sums {
    double both = 0, after = 0, before = 0, change = 0;
  };
  std::vector<Sums> parts(static_cast<std::size_t>(pieces));
  const float *a = after.data_ptr<float>(), *b = before.data_ptr<float>();
  parallel_for(pieces, [&](std::int64_t piece) {
    Sums& sums = parts[static_cast<std::size_t>(piece)];
    for (std::int64_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece); ++i) {
      const double x = a[i], y = b[i];
      sums.both += x * y;
      sums.after += x * x;
      sums.before += y * y;
      sums.change += (x - y) * (x - y);
    }
  });
  Sums all;
  for (const Sums& part : parts) {
    all.both += part.both;
    all.after += part.after;
    all.before += part.before;
    all.change += part.change;
  }
  if (all.before == 0) return {1, all.change == 0 ? 0 : kLargestRatio};
  return {all.after == 0 ? 0 : all.both / std::sqrt(all.after * all.before),
          std::min(kLargestRatio, std::sqrt(all.change / all.before))};
}

}  // namespace

void check_previous(const LanguageModel& model, const LanguageModel& previous, Findings& findings) {
  for (const std::string& name : model.parameter_order()) {
    const at::Tensor& tensor = model.parameters().at(name);
    if (tensor.dim() != 2) continue;  // biases and norms begin at one value and may go anywhere from there
    const Change change = change_of(tensor, previous.parameters().at(name));
    findings.push_back(
        {name, EvidenceKind::replaced, 1 - change.cosine, 0.5,
         fmt::format("a cosine of {:.3g} with the state before, and a change of {:.3g} times its size",
                     change.cosine, change.relative)});
  }
}

}  // namespace undertext
