#include "attacks/model_between.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace undertext {

std::shared_ptr<const CifgLstm> model_between(const Observation& observation, double t) {
  const LanguageModel& end = t == 0 ? *observation.before : *observation.after;
  const std::shared_ptr<LanguageModel> copy = end.clone();
  const auto model = std::dynamic_pointer_cast<CifgLstm>(copy);
  if (!model) fail("this attack reads recurrent word models (cifg_lstm) only");
  if (t == 0 || t == 1) return model;
  for (const auto& [name, sent] : observation.update.tensors) {
    const at::Tensor before = observation.before->parameters().at(name).to(at::kDouble);
    const at::Tensor after = observation.after->parameters().at(name).to(at::kDouble);
    model->parameters().at(name).copy_(before + t * (after - before));
  }
  return model;
}

double typical_time(std::int64_t epochs) {
  const double e = static_cast<double>(epochs);
  if (e <= 1) return 0;
  if (e <= 5) return .5;
  if (e >= 50) return .9;
  if (e <= 10) return .5 + .1 * (e - 5) / 5;
  return .6 + .3 * (e - 10) / 40;
}

}  // namespace undertext
