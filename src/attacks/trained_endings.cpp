#include "attacks/trained_endings.h"

#include <cmath>

#include "attacks/model_between.h"

namespace undertext {
namespace {

constexpr float kKnownByHeart = .6f;  // nats of entropy: below, the next word is as good as known

}  // namespace

TrainedEndings::TrainedEndings(const Observation& observation)
    : layer_(*model_between(observation, 1)),
      trained_(std::make_unique<CifgReader>(model_between(observation, 1)),
               observation.before->start_token()) {}

std::vector<char> TrainedEndings::may_end(const SearchTree& tree, std::span<const NodeId> nodes) {
  std::vector<NodeId> own, fresh;
  for (NodeId node : nodes) own.push_back(trained_.insert(tree.sentence(node)));
  entropy_.resize(static_cast<std::size_t>(trained_.size()), -1.0f);
  for (NodeId node : own)
    if (entropy_[node] < 0) {
      entropy_[node] = 0;
      fresh.push_back(node);
    }
  trained_.open(fresh);
  layer_.softmax(trained_.hidden(fresh), [&](std::int64_t i, const float* p) {
    double sum = 0;
    for (std::int64_t k = 0; k < layer_.words(); ++k)
      if (p[k] > 1e-12f) sum -= static_cast<double>(p[k] * std::log(p[k]));
    entropy_[fresh[i]] = static_cast<float>(sum);
  });
  std::vector<char> result;
  result.reserve(own.size());
  for (NodeId node : own) result.push_back(entropy_[node] >= kKnownByHeart);
  return result;
}

}  // namespace undertext
