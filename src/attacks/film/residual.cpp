#include "attacks/film/residual.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "attacks/certificate.h"

namespace undertext {
namespace {

constexpr double kRounding = 1e-4;  // relative, of float32 sums in another order

}  // namespace

void certify(const Observation& observation, const Transformer& model, FilmRecovery& recovery) {
  const Protocol& protocol = observation.update.protocol;
  std::vector<Sentence> sentences;
  for (const FilmSentence& sentence : recovery.sentences) sentences.push_back(sentence.ids);
  const std::int64_t words = model.predicted(sentences);
  if (words == 0) return;
  NamedTensors gradient;
  for (const auto& [name, tensor] : observation.update.tensors)
    gradient[name] = at::zeros_like(model.parameters().at(name));
  model.add_gradient(sentences, protocol.reduction == Reduction::mean ? 1 / static_cast<double>(words) : 1,
                     gradient);
  if (protocol.defence.clip > 0) clip_gradient(gradient, protocol.defence.clip);
  double off = 0, all = 0, rounding = 0;
  for (const auto& [name, tensor] : gradient) {
    const at::Tensor observed = summed_gradient(observation, name);
    off += (observed - tensor.to(at::kDouble)).square().sum().item<double>();
    all += observed.square().sum().item<double>();
    // Weights that were sent are rounded to float32, which counts for more the smaller the step was.
    if (protocol.kind == UpdateKind::weights)
      rounding += model.parameters().at(name).to(at::kDouble).square().sum().item<double>() *
                  std::pow(std::numeric_limits<float>::epsilon() / protocol.learning_rate, 2);
  }
  if (all == 0) return;
  recovery.residual = std::sqrt(off / all);
  recovery.certified = off <= kRounding * kRounding * all + rounding;
  if (recovery.certified)
    for (FilmSentence& sentence : recovery.sentences) sentence.certified = true, sentence.confidence = 1;
}

}  // namespace undertext
