#include "defences/perturbed_embedding.h"

#include <cmath>

#include "base/error.h"

namespace undertext {
namespace {

double checked_size(double size, const char* what) {
  if (!(size >= 0) || !std::isfinite(size)) fail("{}: {} given, expected a number of at least 0", what, size);
  return size;
}

double checked_rate(double rate, const char* what) {
  if (!(rate >= 0 && rate < 1)) fail("{}: a rate of {}, expected at least 0 and below 1", what, rate);
  return rate;
}

// Two defences of one kind would not add up: which of them holds?
void set_once(double& place, double value, const char* what) {
  if (place != 0) fail("{}: given twice, expected it once", what);
  place = value;
}

}  // namespace

NoisedEmbedding::NoisedEmbedding(double sigma, EmbeddingNoise where)
    : sigma_(checked_size(sigma, "noised embedding")), where_(where) {}

void NoisedEmbedding::on_perturbation(Perturbation& perturbation) const {
  if (where_ == EmbeddingNoise::output) set_once(perturbation.embedding_noise, sigma_, "noised embedding");
}

DropoutEmbedding::DropoutEmbedding(double rate) : rate_(checked_rate(rate, "dropout embedding")) {}

void DropoutEmbedding::on_perturbation(Perturbation& perturbation) const {
  set_once(perturbation.embedding_dropout, rate_, "dropout embedding");
}

AdversarialEmbedding::AdversarialEmbedding(double magnitude)
    : magnitude_(checked_size(magnitude, "adversarial embedding")) {}

void AdversarialEmbedding::on_perturbation(Perturbation& perturbation) const {
  set_once(perturbation.adversarial, magnitude_, "adversarial embedding");
}

LayerDropout::LayerDropout(double rate) : rate_(checked_rate(rate, "lstm dropout")) {}

void LayerDropout::on_perturbation(Perturbation& perturbation) const {
  if (perturbation.layer_dropout) fail("lstm dropout: given twice, expected it once");
  perturbation.layer_dropout = rate_;
}

}  // namespace undertext
