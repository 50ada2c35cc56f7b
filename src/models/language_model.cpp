#include "models/language_model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"

namespace undertext {

double LanguageModel::descend(std::span<const Sentence> sentences, double rate,
                              const std::vector<std::string>& names) {
  NamedTensors gradient;
  for (const std::string& name : names) gradient[name] = at::zeros_like(parameters().at(name));
  const double loss = add_gradient(sentences, 1, gradient);
  for (const auto& [name, g] : gradient) {
    at::Tensor weight = parameters().at(name);  // a handle on the parameter itself
    weight.sub_(g, rate);
  }
  return loss;
}

double perplexity(const LanguageModel& model, std::span<const Sentence> sentences) {
  double loss = 0;
  std::size_t words = 0;
  for (const double nll : model.negative_log_likelihood(sentences)) loss += nll;
  for (const Sentence& sentence : sentences) words += sentence.size();
  UNDERTEXT_CHECK(words > 0);
  return std::exp(loss / static_cast<double>(words));
}

void zero_output_bias(LanguageModel& model) {
  const auto name = model.parameter_of(Role::output_bias);
  if (!name) fail("the model has no output bias that could be set to zero");
  at::Tensor bias = model.parameters().at(*name);
  bias.zero_();
}

}  // namespace undertext
