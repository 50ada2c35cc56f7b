#include <gtest/gtest.h>

#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

double norm_of(const Transformer& model, const Example& example, const std::vector<std::string>& names) {
  NamedTensors gradient;
  for (const std::string& name : names) gradient[name] = at::zeros_like(model.parameters().at(name));
  model.add_gradient(std::vector<Example>{example}, 1, gradient);
  double square = 0;
  for (const auto& [name, g] : gradient) square += g.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(square);
}

TEST(GradientNorms, AreThoseOfEachExampleByItself) {
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain}) {
    for (const bool tied : {true, false}) {
      TransformerConfig config = small_config(kind);
      config.tied = tied;
      const auto model = small_transformer(config);
      const std::vector<Example> examples = model->examples(small_sentences());
      std::vector<double> losses;
      const std::vector<double> norms = model->gradient_norms(examples, {}, &losses);
      ASSERT_EQ(norms.size(), examples.size());
      const std::vector<double> want = model->negative_log_likelihood(examples);
      for (std::size_t i = 0; i < examples.size(); ++i) {
        EXPECT_NEAR(losses[i], want[i], 1e-4);
        const double alone = norm_of(*model, examples[i], model->parameter_order());
        EXPECT_NEAR(norms[i], alone, 1e-4 * alone) << name_of(kind) << (tied ? " tied " : " untied ") << i;
      }
    }
  }
}

TEST(GradientNorms, OfSomeParameters) {
  const auto model = small_transformer(small_config(TransformerKind::gpt2));
  const std::vector<Example> examples = model->examples(small_sentences());
  for (const std::string& name : model->parameter_order()) {
    const std::vector<double> norms = model->gradient_norms(examples, {name});
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const double alone = norm_of(*model, examples[i], {name});
      EXPECT_NEAR(norms[i], alone, 1e-4 * alone + 1e-4) << name;
    }
  }
}

TEST(GradientNorms, OfSomeOfSeveralLayers) {
  const auto model = small_transformer(small_config(TransformerKind::gpt2));
  const std::vector<Example> examples = model->examples(small_sentences());
  const std::vector<std::string> names = {model->names().layers[1].norm2_weight,
                                          model->names().layers[0].norm1_weight};
  const std::vector<double> norms = model->gradient_norms(examples, names);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const double alone = norm_of(*model, examples[i], names);
    EXPECT_NEAR(norms[i], alone, 1e-4 * alone + 1e-4);
  }
}

TEST(GradientNorms, AnExampleWithNothingToPredictHasNone) {
  const auto model = small_transformer(small_config(TransformerKind::gpt2));
  const std::vector<Example> examples = model->examples(std::vector<Sentence>{{3}, {4, 5, 6}, {}});
  const std::vector<double> norms = model->gradient_norms(examples);
  EXPECT_EQ(norms[0], 0);
  EXPECT_GT(norms[1], 0);
  EXPECT_EQ(norms[2], 0);
}

}  // namespace
}  // namespace undertext
