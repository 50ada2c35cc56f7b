// The attack's heart: neurons that all measure the same number, each from another threshold on, and all pass
// the same error back (decepticons, equation 3). Lengths, signs and order of the rows change nothing for the
// attack, and nothing here.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "defences/inspection/checks.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

// Random directions in so few dimensions are never all far apart.
double parallel_threshold(double most, std::int64_t dimensions) {
  return std::max(most, 4.0 / static_cast<double>(dimensions));
}

void check_rows(const std::string& name, const RowDirections& directions, std::int64_t width,
                Findings& findings) {
  const double value = directions.mean_squared_cosine;
  findings.push_back(
      {name, EvidenceKind::parallel_rows, value, parallel_threshold(0.5, width),
       fmt::format("{} rows share their direction with a mean squared cosine of {:.3g}; random rows: {:.3g}",
                   directions.rows, value, 1.0 / static_cast<double>(width))});
}

// weight: (outputs, neurons).
void check_outputs(const std::string& name, const at::Tensor& weight, Findings& findings) {
  const at::Tensor neurons = weight.t().contiguous();
  const double value = row_directions(neurons).mean_squared_cosine;
  findings.push_back(
      {name, EvidenceKind::parallel_outputs, value, parallel_threshold(0.6, weight.size(0)),
       fmt::format("what the neurons add to the outputs has a mean squared cosine of {:.3g}", value)});
  const double share = largest_share(column_energies(neurons));
  findings.push_back(
      {name, EvidenceKind::one_live_output, share, 0.7,
       fmt::format("one of {} outputs holds {:.3g} of the squared weights", weight.size(0), share)});
}

}  // namespace

void check_feed_forward(const Transformer& model, Findings& findings) {
  std::vector<std::vector<double>> points(model.names().layers.size());
  for_layers(model, findings, [&](std::size_t layer, Findings& found) {
    const LayerNames& names = model.names().layers[layer];
    const LayerViews views = layer_views(model, model.parameters(), layer);
    const RowDirections directions = row_directions(views.inner.weight);
    check_rows(names.inner_weight, directions, model.config().width, found);
    points[layer] = switching_points(views.inner.bias, directions);
    check_biases_of_layer(names.inner_bias, views.inner.bias, points[layer], found);
    check_outputs(names.outer_weight, views.outer.weight, found);
  });
  if (points.size() > 1) check_biases_over_layers(model.names().layers[0].inner_bias, points, findings);
}

}  // namespace undertext
