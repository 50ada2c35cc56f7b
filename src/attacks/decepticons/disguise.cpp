#include "attacks/decepticons/disguise.h"

#include <ATen/ATen.h>

#include <cmath>

namespace undertext {
namespace {

// What the weights after the activation may be moved by, as a share of the noise elsewhere: their differences
// decide how well neighbouring rows of a gradient cancel, in sums over thousands of tokens.
constexpr double kOuterShare = 1e-4;

class Noise {
 public:
  Noise(const Transformer& model, double deviation, Seed seed)
      : parameters_(model.parameters()), deviation_(deviation), seed_(seed) {}

  // In units of the root mean square of what is not zero.
  void add(const std::string& name, double share = 1) const {
    if (name.empty()) return;
    const at::Tensor tensor = parameters_.at(name);
    const auto numbers = static_cast<double>(tensor.count_nonzero().item<std::int64_t>());
    if (numbers > 0) add_of(name, share * tensor.norm().item<double>() / std::sqrt(numbers));
  }
  // In units of the entries of a matrix that keeps what it is given about as large as it was.
  void add_to_square(const std::string& name) const {
    add_of(name, 1 / std::sqrt(static_cast<double>(parameters_.at(name).size(1))));
  }

 private:
  void add_of(const std::string& name, double unit) const {
    const at::Tensor tensor = parameters_.at(name);
    add_normal_noise(seed_.derive(name), static_cast<float>(deviation_ * unit), tensor.data_ptr<float>(),
                     tensor.numel());
  }

  const NamedTensors& parameters_;
  double deviation_;
  Seed seed_;
};

}  // namespace

void disguise(Transformer& model, double deviation, Seed seed) {
  if (deviation == 0) return;
  const TransformerNames& names = model.names();
  const Noise noise(model, deviation, seed);
  noise.add(names.token_embedding);
  noise.add(names.position_embedding);
  for (const LayerNames& layer : names.layers) {
    for (const std::string& name : layer.qkv_weight) noise.add_to_square(name);
    noise.add_to_square(layer.attention_weight);
    noise.add(layer.inner_weight);
    noise.add(layer.outer_weight, kOuterShare);
  }
}

}  // namespace undertext
