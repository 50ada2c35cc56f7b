#include "attacks/decepticons/masked_bag.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kRounding = 1e-3;  // of the largest row: less is not there
constexpr double kSlack = 1.05;     // of the bound

std::vector<double> doubles(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.to(at::kDouble).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

// What is left of each token's row once the output layer's part is taken off.
std::vector<double> read_parts(const std::vector<double>& norms, const std::vector<double>& bias,
                               double length) {
  std::vector<double> parts(norms.size());
  const double least = kRounding * *std::ranges::max_element(norms);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const double output = length * bias[k];
    // A predicted token's part points anywhere; one that was not there can only have its bound.
    parts[k] = output < 0 ? std::sqrt(std::max(0.0, norms[k] * norms[k] - output * output))
                          : norms[k] - kSlack * output;
    if (parts[k] < least) parts[k] = 0;
  }
  return parts;
}

}  // namespace

MaskedBag masked_bag(const Transformer& model, const Observation& observation, std::int64_t tokens) {
  const TransformerNames& names = model.names();
  for (const std::string& name : {names.token_embedding, names.output_bias})
    if (!observation.update.tensors.contains(name))
      fail("the update does not hold {}, whose gradient the attack reads", name);
  const std::vector<double> norms = doubles(summed_gradient(observation, names.token_embedding).norm(2, 1));
  const std::vector<double> bias = doubles(summed_gradient(observation, names.output_bias));
  const double length = model.config().tied ? std::sqrt(static_cast<double>(model.config().width)) : 0;
  const std::vector<double> parts = read_parts(norms, bias, length);

  MaskedBag bag;
  std::vector<double> found, once;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] > 0) found.push_back(parts[k]);
    if (bias[k] < 0) once.push_back(-bias[k]);
  }
  // Most tokens occur once, of those that were read as of those that were hidden.
  const double one = quantile(found, 0.3);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] <= 0) continue;
    bag.read.ids.push_back(static_cast<Token>(k));
    // Generous: places differ in how much they move a row, and an assignment can leave counts unused.
    bag.read.counts.push_back(std::min<std::int64_t>(tokens, std::llround(1.5 * parts[k] / one) + 1));
  }
  const std::int64_t room = std::accumulate(bag.read.counts.begin(), bag.read.counts.end(), std::int64_t{0});
  if (room < tokens)
    for (std::int64_t& count : bag.read.counts) count += (tokens - room + 1);

  const double label = quantile(once, 0.5);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t k) { return !(bias[k] < -0.5 * label); });
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return bias[k]; });
  for (const std::size_t k : order)
    for (std::int64_t c = 0; c < std::llround(-bias[k] / label); ++c)
      bag.hidden.push_back(static_cast<Token>(k));
  return bag;
}

}  // namespace undertext
