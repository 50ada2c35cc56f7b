// Attention that is switched off, or made to copy: everything but one mixing of a sentence's code into its
// tokens would disturb the measurement (decepticons, section 3).
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "defences/inspection/checks.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

double rms(const at::Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : std::sqrt(tensor.to(at::kDouble).square().mean().item<double>());
}

double ratio(double above, double below) {
  return above == 0 ? 0 : std::min(kLargestRatio, above / std::max(below, 1e-300));
}

// The part of `names` that is query (0), key (1) or value (2).
std::string part_name(const std::vector<std::string>& names, std::size_t which) {
  constexpr const char* kParts[] = {"query", "key", "value"};
  return names.size() == 3 ? names[which] : fmt::format("{} ({})", names[0], kParts[which]);
}

void check_copying(const std::string& name, const at::Tensor& weight, double threshold, Findings& findings) {
  const at::Tensor squares = weight.to(at::kDouble).square();
  const double all = squares.sum().item<double>();
  const double value = all > 0 ? squares.amax({1}).sum().item<double>() / all : 0;
  findings.push_back(
      {name, EvidenceKind::copying_projection, value, threshold,
       fmt::format("the largest entry of each row holds {:.3g} of the squared weights", value)});
}

void check_size(const std::string& name, EvidenceKind kind, const at::Tensor& weight, double usual,
                Findings& findings) {
  const double size = rms(weight), value = ratio(usual, size);
  findings.push_back({name, kind, value, 100,
                      size == 0
                          ? std::string("all zero")
                          : fmt::format("weights of size {:.3g}, {:.3g} times below the least usual {:.3g}",
                                        size, value, usual)});
}

void check_query(const std::string& name, const LayerViews::Affine& query, Findings& findings) {
  const double bias = rms(query.bias);
  const double value = ratio(bias, rms(query.weight) * std::sqrt(static_cast<double>(query.weight.size(1))));
  findings.push_back({name, EvidenceKind::constant_query, value, 20,
                      fmt::format("its bias has {:.3g} times the size of its rows", value)});
}

}  // namespace

void check_attention(const Transformer& model, Findings& findings) {
  const TransformerConfig& config = model.config();
  const auto width = static_cast<double>(config.width);
  // The smallest of the common initialisations, GPT-2's for residual streams.
  const double usual =
      std::min(0.02, 1 / std::sqrt(3 * width)) / std::sqrt(2.0 * static_cast<double>(config.layers));
  // The largest of few squares is a large part of them by chance: of 8 normal ones .4.
  const double copying = config.width < 16 ? 0.9 : 0.6;
  for_layers(model, findings, [&](std::size_t layer, Findings& found) {
    const LayerNames& names = model.names().layers[layer];
    const LayerViews views = layer_views(model, model.parameters(), layer);
    const std::string query = part_name(names.qkv_weight, 0), key = part_name(names.qkv_weight, 1);
    check_size(names.attention_weight, EvidenceKind::dead_attention, views.attention.weight, usual, found);
    check_size(query, EvidenceKind::uniform_attention, views.query.weight, usual, found);
    check_size(key, EvidenceKind::uniform_attention, views.key.weight, usual, found);
    check_query(part_name(names.qkv_bias, 0), views.query, found);
    check_copying(query, views.query.weight, copying, found);
    check_copying(key, views.key.weight, copying, found);
    check_copying(part_name(names.qkv_weight, 2), views.value.weight, copying, found);
    check_copying(names.attention_weight, views.attention.weight, copying, found);
  });
}

}  // namespace undertext
