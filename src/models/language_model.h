// What every language model offers to the rest of the house.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/perturbation.h"
#include "tensors/name_matching.h"
#include "tensors/named_tensors.h"
#include "text/tokenizer.h"

namespace undertext {

// What a parameter is for. Attacks find tensors by role, never by name.
enum class Role { token_embedding, position_embedding, output_weight, output_bias };

inline constexpr Token kNoToken = -1;

class SoftModel;

struct ModelTensors {
  std::vector<WantedTensor> wanted;  // in parameter_order()
  MatchOptions match;
};

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  virtual std::string kind() const = 0;  // model_type in config.json
  virtual std::int64_t vocabulary_size() const = 0;
  // What the model reads before a sentence's first word, which is then predicted too; kNoToken: nothing, and
  // the first word is not predicted.
  virtual Token start_token() const = 0;

  // All parameters by name. Values may be changed in place through the handles (training does).
  virtual const NamedTensors& parameters() const = 0;
  // Their names in the order in which the model's framework lists them, which files without names rely on.
  virtual std::vector<std::string> parameter_order() const;
  virtual std::optional<std::string> parameter_of(Role role) const = 0;
  // What files of this model hold, and under which other names.
  virtual ModelTensors tensors_in_files() const;
  // Parameters that training changes, with or without the token embedding.
  virtual std::vector<std::string> trainable(bool with_embedding) const = 0;

  // An independent copy of the parameters.
  virtual std::unique_ptr<LanguageModel> clone() const = 0;
  // The same model with these parameters in place of its own; all others are shared, not copied. For reading:
  // what is changed in place changes both.
  virtual std::unique_ptr<const LanguageModel> with(const NamedTensors& changed) const = 0;

  // What training draws at random (dropout, which words a masked model has to guess) comes from this seed;
  // nothing: no dropout, and always the same words.
  virtual void randomise(std::optional<Seed> seed) { (void)seed; }
  // From now on add_gradient() trains under this perturbation, drawn from the seed of randomise(); the
  // likelihoods stay as they are. UserError where a model cannot.
  virtual void perturb(const Perturbation& perturbation);

  // The most words that the model reads at once.
  virtual std::int64_t longest_sentence() const { return std::numeric_limits<std::int32_t>::max(); }
  // UserError that begins with `where` when a sentence is longer than the model can read.
  virtual void check(std::span<const Sentence> sentences, const std::string& where) const;
  // How many words of the sentences are predicted.
  virtual std::int64_t predicted(std::span<const Sentence> sentences) const;

  // Sum over all predicted words of -log p(word | what the model sees). Adds the gradient of that sum, times
  // `scale`, to gradient[name] for the names in `gradient` (each zero-initialised by the caller or
  // accumulated). Same bytes for any thread count. Returns the sum of losses.
  virtual double add_gradient(std::span<const Sentence> sentences, double scale,
                              NamedTensors& gradient) const = 0;

  // The same with a weight for each sentence in place of one scale. Returns the sum of losses, unweighted.
  virtual double add_weighted_gradient(std::span<const Sentence> sentences, std::span<const double> weights,
                                       NamedTensors& gradient) const;
  // The Euclidean norm of each sentence's own gradient, of its sum of losses, over the named parameters.
  virtual std::vector<double> gradient_norms(std::span<const Sentence> sentences,
                                             const std::vector<std::string>& names) const;

  // One step of gradient descent: subtracts rate times the gradient of the same sum from each named
  // parameter. Models may fuse the two. Returns the sum of losses before the step.
  virtual double descend(std::span<const Sentence> sentences, double rate,
                         const std::vector<std::string>& names);

  // -log p summed over each sentence's predicted words, one number per sentence, no gradient.
  virtual std::vector<double> negative_log_likelihood(std::span<const Sentence> sentences) const = 0;

  // The loss as a graph that can be differentiated twice; null where a model has none.
  virtual std::shared_ptr<const SoftModel> soft_model() const { return nullptr; }

  virtual void save(const std::filesystem::path& folder) const = 0;
};

// Perplexity over all predicted words of the sentences: exp(sum of -log p / number of words).
double perplexity(const LanguageModel& model, std::span<const Sentence> sentences);

// The same on a scale of bits, as language models of characters are compared: its logarithm to the base 2.
double bits_per_character(const LanguageModel& model, std::span<const Sentence> sentences);

// Sets the output bias to zero, as the published experiments of gboard-next-word did; UserError when the
// model has none.
void zero_output_bias(LanguageModel& model);

}  // namespace undertext
