// The keyboard's next-word model: an LSTM with coupled input and forget gates and a projection
// (gboard-next-word, section 2.3): V words, E = embedding size, U units, projection back to E.
//   f, g, o = sigmoid, tanh, sigmoid of W_ih x + W_hh h' + b       (gates forget, cell, output; 3U)
//   c = f c' + (1 - f) g;   h = P (o tanh c) + q                   (c: U, h: E)
//   logits = W h + b                                               (V)
#pragma once

#include <functional>

#include "base/random.h"
#include "models/clipped_gradient.h"
#include "models/language_model.h"

namespace undertext {

class CifgSentences;

struct CifgConfig {
  std::int64_t vocabulary = 0;  // V
  std::int64_t embedding = 96;  // E
  std::int64_t units = 670;     // U
  bool tied = false;            // the output weight is the token embedding itself
  Token end = 0, start = 1, unknown = 2;
};

class CifgLstm : public LanguageModel, public ClippedGradient {
 public:
  // State after reading a prefix, for n prefixes at once: h (n, E), c (n, U).
  struct State {
    at::Tensor h, c;
  };

  // Takes the tensors as they are where they are contiguous float32 (training changes them in place) and
  // converts the others; UserError that begins with `where` when a name, shape, dtype or value is wrong.
  CifgLstm(const CifgConfig& config, NamedTensors parameters, const std::string& where = "the model");
  static std::unique_ptr<CifgLstm> random(const CifgConfig& config, Seed seed);
  static std::unique_ptr<CifgLstm> load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const override;  // config.json, model.safetensors

  const CifgConfig& config() const { return config_; }
  std::string kind() const override { return "cifg-lstm"; }
  std::int64_t vocabulary_size() const override { return config_.vocabulary; }
  Token start_token() const override { return config_.start; }
  const NamedTensors& parameters() const override { return parameters_; }
  std::optional<std::string> parameter_of(Role role) const override;
  // Without the embedding: all but the token embedding and the projection's bias, as on the keyboard, whose
  // cell has no such bias (it stays zero). When tied, the output weight is the embedding and is frozen with
  // it.
  std::vector<std::string> trainable(bool with_embedding) const override;
  std::unique_ptr<LanguageModel> clone() const override;
  std::unique_ptr<const LanguageModel> with(const NamedTensors& changed) const override;
  double add_gradient(std::span<const Sentence> sentences, double scale,
                      NamedTensors& gradient) const override;
  double add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                               NamedTensors& gradient) const override;
  std::vector<double> gradient_norms(std::span<const Sentence> sentences,
                                     const std::vector<std::string>& names) const override;
  double add_clipped_gradient(std::span<const Sentence> sentences, const WeightOfNorm& weight_of,
                              NamedTensors& gradient) const override;
  double descend(std::span<const Sentence> sentences, double rate,
                 const std::vector<std::string>& names) override;
  std::vector<double> negative_log_likelihood(std::span<const Sentence> sentences) const override;
  std::shared_ptr<const SoftModel> soft_model() const override;

  // Incremental reading, for search: n zero states; then one token appended to each.
  State start_state(std::int64_t n) const;
  State step(const State& state, std::span<const Token> tokens) const;
  // Logits after each state: (n, V) float32.
  at::Tensor logits(const at::Tensor& h) const;

 private:
  void check_gradient(const NamedTensors& gradient) const;
  // Calls body with the norms of some sentences' own gradients after the others, and with what else they
  // have; null: nothing. Returns the sum of all losses.
  double pieces_alone(
      std::span<const Sentence> sentences, const std::vector<std::string>& names,
      const std::function<void(CifgSentences* piece, std::span<const double> norms)>& body) const;

  CifgConfig config_;
  NamedTensors parameters_;
};

}  // namespace undertext
