#include "models/clipped_gradient.h"

namespace undertext {

double add_clipped_gradient(const LanguageModel& model, std::span<const Sentence> sentences,
                            const WeightOfNorm& weight_of, NamedTensors& gradient) {
  if (const auto* own = dynamic_cast<const ClippedGradient*>(&model))
    return own->add_clipped_gradient(sentences, weight_of, gradient);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : gradient) names.push_back(name);
  std::vector<double> weights = model.gradient_norms(sentences, names);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weight_of(i, weights[i]);
  return model.add_weighted_gradient(sentences, weights, gradient);
}

}  // namespace undertext
