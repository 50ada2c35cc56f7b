#include "defences/dpsgd.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "federated/local_training.h"

namespace undertext {

DpSgd::DpSgd(double clip, double sigma, Seed seed)
    : clip_(clip), deviation_(static_cast<float>(sigma * clip)), seed_(seed.derive("dpsgd")) {
  if (!(clip > 0) || !std::isfinite(clip)) fail("dpsgd: a norm of {}, expected a positive number", clip);
  if (!(sigma >= 0) || !(sigma * clip < 1e18))
    fail("dpsgd: noise of {} times the norm, expected a number of at least 0", sigma);
}

void DpSgd::on_sum(NamedTensors& sum, std::int64_t step) const {
  if (deviation_ == 0) return;
  const Seed of_step = seed_.derive(static_cast<std::uint64_t>(step));
  for (auto& [name, tensor] : sum)
    add_normal_noise(of_step.derive(name), deviation_, tensor.data_ptr<float>(), tensor.numel());
}

void DpSgd::tell(KnownDefence& known, double texts) const {
  known.text_clip = known.text_clip > 0 ? std::min(known.text_clip, clip_) : clip_;
  known.noise_per_step = std::hypot(known.noise_per_step, deviation_ / texts);
}

NoisySteps dpsgd_steps(double sigma, std::int64_t texts, std::int64_t batch, std::int64_t epochs) {
  UNDERTEXT_CHECK(texts > 0 && batch >= 0 && epochs >= 0);
  const std::int64_t drawn = batch == 0 ? texts : std::min(batch, texts);
  return {sigma, static_cast<double>(drawn) / static_cast<double>(texts),
          epochs * steps_per_epoch(texts, batch)};
}

}  // namespace undertext
