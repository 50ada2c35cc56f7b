#include "defences/inspection/clever_disguises.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

at::Tensor normal(at::IntArrayRef shape, Seed seed) {
  at::Tensor values = at::zeros(shape);
  add_normal_noise(seed, 1, values.data_ptr<float>(), values.numel());
  return values;
}

template <typename Body>
void in_layers(Transformer& model, Seed seed, Body body) {
  for (std::size_t i = 0; i < model.names().layers.size(); ++i)
    body(layer_views(model, model.parameters(), i), seed.derive(i));
}

double rms(const at::Tensor& tensor) {
  return std::sqrt(tensor.to(at::kDouble).square().mean().item<double>());
}

void shuffle(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    const at::Tensor order = normal({layer.inner.bias.size(0)}, own).argsort();
    layer.inner.weight.copy_(layer.inner.weight.index_select(0, order).clone());
    layer.inner.bias.copy_(layer.inner.bias.index_select(0, order).clone());
    layer.outer.weight.copy_(layer.outer.weight.index_select(1, order).clone());
  });
}

void stretch(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    const at::Tensor factor = normal({layer.inner.bias.size(0)}, own).exp();
    layer.inner.weight.mul_(factor.unsqueeze(1));
    layer.inner.bias.mul_(factor);
    layer.outer.weight.div_(factor.unsqueeze(0));
  });
}

void roughen(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    Random draw(own);
    std::vector<float> edges(layer.inner.bias.data_ptr<float>(),
                             layer.inner.bias.data_ptr<float>() + layer.inner.bias.numel());
    std::sort(edges.begin(), edges.end());
    // Sorted samples of the same distribution: as many quantiles, at random shares.
    std::vector<float> random;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double at = draw.uniform() * static_cast<double>(edges.size() - 1);
      const auto below = static_cast<std::size_t>(at);
      const double share = at - std::floor(at);
      random.push_back(static_cast<float>((1 - share) * edges[below] + share * edges[below + 1]));
    }
    std::sort(random.begin(), random.end(), std::greater<>());
    layer.inner.bias.copy_(at::tensor(random));
  });
}

void spread_outputs(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    const std::int64_t d = layer.outer.weight.size(0);
    const at::Tensor live = layer.outer.weight[d - 1].clone();
    const at::Tensor direction = normal({d}, own) / std::sqrt(static_cast<double>(d));
    layer.outer.weight.copy_(direction.unsqueeze(1) * live.unsqueeze(0));
  });
}

void use_fewer_entries(Transformer& model, Seed seed) {
  const std::int64_t d = model.config().width, unused = d / 3, first = d / 2;
  for (const std::string& name : {model.names().token_embedding, model.names().position_embedding})
    model.parameters().at(name).narrow(1, first, unused).zero_();
  in_layers(model, seed, [&](LayerViews layer, Seed own) {
    const double size = 3 * rms(layer.inner.weight);
    layer.inner.weight.narrow(1, first, unused).copy_(normal({layer.inner.bias.size(0), unused}, own) * size);
  });
}

void use_half(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    const std::int64_t f = layer.inner.bias.size(0), half = f / 2, d = layer.inner.weight.size(1);
    layer.inner.weight.narrow(0, half, f - half)
        .copy_(normal({f - half, d}, own.derive("in")) * rms(layer.inner.weight));
    layer.inner.bias.narrow(0, half, f - half).zero_();
    layer.outer.weight.narrow(1, half, f - half)
        .copy_(normal({d, f - half}, own.derive("out")) * rms(layer.outer.weight));
  });
}

void use_groups(Transformer& model, Seed seed) {
  in_layers(model, seed, [](LayerViews layer, Seed own) {
    const std::int64_t f = layer.inner.bias.size(0), d = layer.inner.weight.size(1), groups = 8;
    const double size = rms(layer.inner.weight);
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t from = g * f / groups, count = (g + 1) * f / groups - from;
      const at::Tensor probe = normal({1, d}, own.derive(static_cast<std::uint64_t>(g))) * size;
      layer.inner.weight.narrow(0, from, count).copy_(probe.expand({count, d}));
    }
  });
}

void much_at_once(Transformer& model, Seed seed) {
  roughen(model, seed.derive("roughen"));
  spread_outputs(model, seed.derive("spread"));
  stretch(model, seed.derive("stretch"));
  shuffle(model, seed.derive("shuffle"));
}

}  // namespace

const std::vector<CleverDisguise>& clever_disguises() {
  static const std::vector<CleverDisguise> all = {{"shuffled", shuffle},
                                                  {"stretched", stretch},
                                                  {"rough thresholds", roughen},
                                                  {"outputs spread", spread_outputs},
                                                  {"noise in unused entries", use_fewer_entries},
                                                  {"half of the neurons", use_half},
                                                  {"eight probes", use_groups},
                                                  {"much at once", much_at_once}};
  return all;
}

}  // namespace undertext
