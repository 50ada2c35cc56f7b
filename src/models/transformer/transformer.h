// Transformer language models: GPT-2, BERT and the small encoder of decepticons, section 4.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/random.h"
#include "models/language_model.h"
#include "models/output_layer.h"
#include "models/transformer/config.h"
#include "models/transformer/examples.h"
#include "models/transformer/parameters.h"
#include "models/transformer/pass.h"

namespace undertext {

class Transformer : public LanguageModel {
 public:
  // Takes the tensors as they are where they are contiguous float32, mapped files too, and converts the
  // others; UserError that begins with `where` when a name, shape, dtype or value is wrong.
  Transformer(const TransformerConfig& config, NamedTensors parameters,
              const std::string& where = "the model");
  static std::unique_ptr<Transformer> random(const TransformerConfig& config, Seed seed);
  // The folder's weights in any format, mapped where they are float32. hash: hash_of() its parameters.
  static std::unique_ptr<Transformer> load(const std::filesystem::path& folder,
                                           const TransformerConfig& config, std::string* hash = nullptr);
  void save(const std::filesystem::path& folder) const override;

  const TransformerConfig& config() const { return config_; }
  const TransformerNames& names() const { return names_; }
  TransformerWeights weights() const { return {config_, names_, parameters_}; }
  OutputWeights output() const;
  // What hides a word from a masked model; needed before it can read sentences.
  void set_mask(std::optional<Token> mask) { mask_ = mask; }
  std::optional<Token> mask() const { return mask_; }

  std::string kind() const override { return name_of(config_.kind); }
  std::int64_t vocabulary_size() const override { return config_.vocabulary; }
  Token start_token() const override { return kNoToken; }  // sentences are read as they are
  const NamedTensors& parameters() const override { return parameters_; }
  std::vector<std::string> parameter_order() const override;
  std::optional<std::string> parameter_of(Role role) const override;
  ModelTensors tensors_in_files() const override { return undertext::tensors_in_files(config_); }
  std::vector<std::string> trainable(bool with_embedding) const override;
  std::unique_ptr<LanguageModel> clone() const override;
  std::unique_ptr<const LanguageModel> with(const NamedTensors& changed) const override;
  void randomise(std::optional<Seed> seed) override { seed_ = seed; }
  std::int64_t longest_sentence() const override { return config_.positions; }
  void check(std::span<const Sentence> sentences, const std::string& where) const override;
  std::int64_t predicted(std::span<const Sentence> sentences) const override;
  double add_gradient(std::span<const Sentence> sentences, double scale,
                      NamedTensors& gradient) const override;
  double add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                               NamedTensors& gradient) const override;
  std::vector<double> gradient_norms(std::span<const Sentence> sentences,
                                     const std::vector<std::string>& names) const override;
  std::vector<double> negative_log_likelihood(std::span<const Sentence> sentences) const override;
  std::shared_ptr<const SoftModel> soft_model() const override;

  // The same for examples that are made already.
  double add_gradient(std::span<const Example> examples, double scale, NamedTensors& gradient) const;
  // weights: one per example; empty: 1 for each.
  double add_gradient(std::span<const Example> examples, std::span<const double> weights, double scale,
                      NamedTensors& gradient) const;
  std::vector<double> negative_log_likelihood(std::span<const Example> examples) const;
  // The Euclidean norm of each example's own gradient (of its sum of losses) over the named parameters (all
  // when empty), from one way back for all of them. losses: also the negative log-likelihoods, when not null.
  std::vector<double> gradient_norms(std::span<const Example> examples,
                                     const std::vector<std::string>& names = {},
                                     std::vector<double>* losses = nullptr) const;
  // Logits at every place of every example, end to end: (R, V). For tests and small inputs: nothing else
  // holds them all.
  at::Tensor logits(std::span<const Example> examples) const;

  std::vector<Example> examples(std::span<const Sentence> sentences) const;

 private:
  // A batch that fits the bound on memory, with what is predicted in it.
  struct Piece {
    std::size_t first = 0, count = 0;  // of the examples
    TokenRows rows;
    std::vector<std::int64_t> picked;  // rows at which something is predicted
    Targets targets;                   // one per picked row
    std::optional<Seed> dropout;
  };
  void for_pieces(std::span<const Example> examples, const std::function<void(const Piece&)>& body) const;
  // The piece's, each as often as its example weighs.
  static Targets weighted_targets(std::span<const Example> examples, const Piece& piece,
                                  std::span<const double> weights);
  static TransformerWorkspace& pass_workspace();

  TransformerConfig config_;
  TransformerNames names_;
  NamedTensors parameters_;
  std::optional<Token> mask_;
  std::optional<Seed> seed_;  // of dropout and masks; nothing: no dropout, always the same masks
};

}  // namespace undertext
