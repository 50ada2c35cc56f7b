// The matrices of one layer of a transformer as (out, in), whatever order its framework keeps them in.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/transformer/transformer.h"

namespace undertext {

// Views: what is written to them is written to the tensors themselves. Undefined where a tensor is not there.
struct LayerViews {
  struct Affine {
    at::Tensor weight, bias;  // (out, in), (out)
  };
  Affine query, key, value, attention;  // attention: the output projection
  Affine inner, outer;                  // of the feed-forward part
  Affine norm1, norm2;                  // (width), (width)
};

// tensors: a model's parameters, or an update of them.
LayerViews layer_views(const Transformer& model, const NamedTensors& tensors, std::size_t layer);

}  // namespace undertext
