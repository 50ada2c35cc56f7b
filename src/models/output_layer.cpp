#include "models/output_layer.h"

#include <algorithm>

#include "models/output_block.h"

namespace undertext {

std::int64_t rows_per_block(std::int64_t vocabulary) {
  // 16 MB of exponentials, but not less rows than keep the products efficient.
  return std::max<std::int64_t>(256, (std::int64_t{4} << 20) / vocabulary);
}

void output_layer(const OutputWeights& output, const float* h, const Targets& targets,
                  double* log_probability, const OutputGradient* gradient, OutputWorkspace& workspace) {
  const std::int64_t most = rows_per_block(output.vocabulary);
  const std::int64_t pieces = (targets.rows() + most - 1) / most;  // of about equal size
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t first = piece * targets.rows() / pieces, last = (piece + 1) * targets.rows() / pieces;
    OutputBlock block(output, h, targets, first, last - first, log_probability,
                      gradient ? OutputPass::gradient : OutputPass::likelihoods, workspace);
    block.forward();
    if (gradient) block.backward(*gradient, workspace);
  }
}

void log_normalisers(const OutputWeights& output, const float* h, std::int64_t rows, double* log_total,
                     OutputWorkspace& workspace) {
  Targets none;  // rows that nothing is known to follow
  none.target_begin.assign(static_cast<std::size_t>(rows) + 1, 0);
  none.row_count.assign(static_cast<std::size_t>(rows), 0.0f);
  const std::int64_t most = rows_per_block(output.vocabulary);
  for (std::int64_t first = 0; first < rows; first += most)
    OutputBlock(output, h, none, first, std::min(most, rows - first), nullptr, OutputPass::likelihoods,
                workspace)
        .forward(log_total);
}

}  // namespace undertext
