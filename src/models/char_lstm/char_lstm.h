// The character language model of record-level, section V-A: V characters, an embedding of E numbers, L
// layers of LSTM with U units each, dropout on what every layer gives, and a decoder with a bias.
//   i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of W_ih x + b_ih + W_hh h' + b_hh     (4U)
//   c = f c' + i g;   h = o tanh c;   logits = W h + b                                (V)
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "models/char_lstm/config.h"
#include "models/char_lstm/packed_weights.h"
#include "models/char_lstm/parameters.h"
#include "models/char_lstm/state.h"
#include "models/language_model.h"

namespace undertext {

struct TrainingCall;
class TrainingPiece;

class CharLstm : public LanguageModel {
 public:
  // Takes the tensors as they are where they are contiguous float32 (training changes them in place) and
  // converts the others; UserError that begins with `where` when a name, shape, dtype or value is wrong.
  CharLstm(const CharLstmConfig& config, NamedTensors parameters, const std::string& where = "the model");
  static std::unique_ptr<CharLstm> random(const CharLstmConfig& config, Seed seed);
  static std::unique_ptr<CharLstm> load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const override;  // config.json, model.safetensors

  const CharLstmConfig& config() const { return config_; }
  std::string kind() const override { return "char-lstm"; }
  std::int64_t vocabulary_size() const override { return config_.vocabulary; }
  Token start_token() const override { return kNoToken; }  // a sentence's first character is not predicted
  const NamedTensors& parameters() const override { return parameters_; }
  std::vector<std::string> parameter_order() const override;
  std::optional<std::string> parameter_of(Role role) const override;
  std::vector<std::string> trainable(bool with_embedding) const override;
  std::unique_ptr<LanguageModel> clone() const override;
  std::unique_ptr<const LanguageModel> with(const NamedTensors& changed) const override;
  void randomise(std::optional<Seed> seed) override { seed_ = seed; }
  void perturb(const Perturbation& perturbation) override;
  std::int64_t predicted(std::span<const Sentence> sentences) const override;

  // Under adversarial training the loss is the mean of both.
  double add_gradient(std::span<const Sentence> sentences, double scale,
                      NamedTensors& gradient) const override;
  double add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                               NamedTensors& gradient) const override;
  std::vector<double> gradient_norms(std::span<const Sentence> sentences,
                                     const std::vector<std::string>& names) const override;
  std::vector<double> negative_log_likelihood(std::span<const Sentence> sentences) const override;

  // add_gradient() that reads on where another call ended: truncated backpropagation over long texts.
  // Sentence i goes on from the i-th state in `carried` (empty: from nothing) and leaves its own there;
  // gradients stop at the border. A sentence's last character is predicted but not read, so the next piece of
  // the same text begins with it.
  double add_gradient_from(LstmState& carried, std::span<const Sentence> sentences, double scale,
                           NamedTensors& gradient) const;

  // The weights as readers of prefixes need them; later changes of the parameters are not seen.
  std::shared_ptr<const PackedWeights> packed() const;

 private:
  double train(std::span<const Sentence> sentences, std::span<const double> weights, double scale,
               NamedTensors& gradient, LstmState* carried) const;
  TrainingCall call(std::span<const Sentence> sentences, std::span<const double> weights) const;
  // Runs the sentences in pieces, as many at once as there are threads, and hands over the finished ones in
  // their order. loss: by sentence.
  void run_pieces(const TrainingCall& call, std::span<double> loss,
                  const std::function<void(std::span<const TrainingPiece>)>& finished) const;
  void check_characters(std::span<const Sentence> sentences) const;

  CharLstmConfig config_;
  CharLstmNames names_;
  NamedTensors parameters_;
  std::optional<Seed> seed_;
  Perturbation perturbation_;
};

}  // namespace undertext
