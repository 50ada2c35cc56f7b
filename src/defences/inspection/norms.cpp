// Norms that let one entry through, so that what the output layer says depends on nothing else.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "defences/inspection/checks.h"

namespace undertext {

void check_norms(const Transformer& model, Findings& findings) {
  const TransformerNames& names = model.names();
  std::vector<std::string> weights = {names.embedding_norm_weight, names.final_norm_weight,
                                      names.head_norm_weight};
  for (const LayerNames& layer : names.layers)
    weights.insert(weights.end(), {layer.norm1_weight, layer.norm2_weight});
  for (const std::string& name : weights) {
    if (name.empty()) continue;
    std::vector<double> squares = values_of(model.parameters().at(name));
    for (double& value : squares) value *= value;
    const double share = largest_share(squares);
    findings.push_back(
        {name, EvidenceKind::one_live_norm, share, 0.6,
         fmt::format("one of {} entries holds {:.3g} of the squared weights", squares.size(), share)});
  }
}

}  // namespace undertext
