#include "models/language_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

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

double LanguageModel::add_weighted_gradient(std::span<const Sentence> sentences,
                                            std::span<const double> weights, NamedTensors& gradient) const {
  UNDERTEXT_CHECK(weights.size() == sentences.size());
  double loss = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    loss += add_gradient(sentences.subspan(i, 1), weights[i], gradient);
  return loss;
}

std::vector<double> LanguageModel::gradient_norms(std::span<const Sentence> sentences,
                                                  const std::vector<std::string>& names) const {
  std::vector<double> norms;
  NamedTensors gradient;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (const std::string& name : names) {
      at::Tensor& g = gradient[name];
      g.defined() ? g.zero_() : g = at::zeros_like(parameters().at(name));
    }
    add_gradient(sentences.subspan(i, 1), 1, gradient);
    double squares = 0;
    for (const auto& [name, g] : gradient) squares += std::pow(at::norm(g, 2, at::kDouble).item<double>(), 2);
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

void LanguageModel::perturb(const Perturbation& perturbation) {
  if (perturbation.any())
    fail("a {} cannot train with a perturbed embedding or other dropout; expected a char-lstm", kind());
}

std::vector<std::string> LanguageModel::parameter_order() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parameters()) names.push_back(name);
  return names;
}

ModelTensors LanguageModel::tensors_in_files() const {
  ModelTensors result;
  for (const std::string& name : parameter_order())
    result.wanted.push_back({name, parameters().at(name).sizes().vec()});
  return result;
}

void LanguageModel::check(std::span<const Sentence>, const std::string&) const {}

std::int64_t LanguageModel::predicted(std::span<const Sentence> sentences) const {
  std::size_t words = 0;
  for (const Sentence& sentence : sentences) words += sentence.size();
  return static_cast<std::int64_t>(words);
}

namespace {

double mean_loss(const LanguageModel& model, std::span<const Sentence> sentences) {
  double loss = 0;
  for (const double nll : model.negative_log_likelihood(sentences)) loss += nll;
  const std::int64_t words = model.predicted(sentences);
  UNDERTEXT_CHECK(words > 0);
  return loss / static_cast<double>(words);
}

}  // namespace

double perplexity(const LanguageModel& model, std::span<const Sentence> sentences) {
  return std::exp(mean_loss(model, sentences));
}

double bits_per_character(const LanguageModel& model, std::span<const Sentence> sentences) {
  return mean_loss(model, sentences) / std::numbers::ln2;
}

void zero_output_bias(LanguageModel& model) {
  const auto name = model.parameter_of(Role::output_bias);
  if (!name) fail("the model has no output bias that could be set to zero");
  at::Tensor bias = model.parameters().at(*name);
  bias.zero_();
}

}  // namespace undertext
