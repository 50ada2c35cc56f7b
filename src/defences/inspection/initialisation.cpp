// How far a state's matrices are from any that the common initialisations and training from them give.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "defences/inspection/checks.h"

namespace undertext {
namespace {

// Standard deviations of the common initialisations of a matrix, from least to most: N(0, .02), U(+-.1),
// Glorot, He, LeCun, torch's own, N(0, 1) for embeddings; GPT-2's is smaller by sqrt(2 L).
struct Usual {
  double least, most;
};

Usual usual_sizes(const at::Tensor& matrix, double layers) {
  const auto smaller = static_cast<double>(std::min(matrix.size(0), matrix.size(1)));
  const auto larger = static_cast<double>(std::max(matrix.size(0), matrix.size(1)));
  return {std::min(0.02, 1 / std::sqrt(3 * larger)) / std::sqrt(2 * layers),
          std::max(1.0, std::sqrt(2 / smaller))};
}

void check_matrix(const std::string& name, const at::Tensor& matrix, const EntryStatistics& entries,
                  double layers, Findings& findings) {
  // A matrix of zeros is an initialisation too (of what is added to a residual stream).
  if (entries.rms == 0) return;
  const double zeros = static_cast<double>(entries.zeros) / static_cast<double>(entries.count);
  findings.push_back({name, EvidenceKind::exact_zeros, zeros, 0.2,
                      fmt::format("{:.3g} of its {} entries are exactly zero", zeros, entries.count)});
  const Usual usual = usual_sizes(matrix, layers);
  const double factor = std::max(entries.rms / usual.most, usual.least / entries.rms);
  findings.push_back(
      {name, EvidenceKind::improbable_scale, std::min(kLargestRatio, factor), 10,
       fmt::format("entries of size {:.3g}; usual: {:.2g} to {:.2g}", entries.rms, usual.least, usual.most)});
  findings.push_back(
      {name, EvidenceKind::improbable_tails, entries.kurtosis, 200,
       fmt::format("its entries have a kurtosis of {:.3g} (normal: 3, uniform: 1.8)", entries.kurtosis)});
}

}  // namespace

void check_initialisation(const LanguageModel& model, Findings& findings) {
  const auto* transformer = dynamic_cast<const Transformer*>(&model);
  const double layers = transformer ? static_cast<double>(transformer->config().layers) : 1;
  for (const std::string& name : model.parameter_order()) {
    const at::Tensor& tensor = model.parameters().at(name);
    const EntryStatistics entries = entry_statistics(tensor);
    findings.push_back({name, EvidenceKind::huge_values, entries.largest, 1e3,
                        fmt::format("its largest entry is {:.3g}", entries.largest)});
    if (tensor.dim() == 2) check_matrix(name, tensor, entries, layers, findings);
  }
}

}  // namespace undertext
