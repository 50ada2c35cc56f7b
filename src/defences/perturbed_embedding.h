// Perturbations of a client's model while it trains, against its remembering single records (record-level,
// section VI): on what comes out of the token embedding, or between the layers. The model that leaves the
// device is a plain one.
#pragma once

#include "federated/defence.h"

namespace undertext {

// Where noise on the embedding goes.
enum class EmbeddingNoise {
  output,   // on what it puts out: drawn anew in every step, and forgotten
  weights,  // on its weights: the noise of every step stays there and adds up
};

// Section VI-A, Noised Embedding: Gaussian noise on the embedding in every step.
class NoisedEmbedding : public ClientDefence {
 public:
  // UserError unless sigma is a finite number of at least 0.
  explicit NoisedEmbedding(double sigma, EmbeddingNoise where = EmbeddingNoise::output);
  void on_perturbation(Perturbation& perturbation) const override;
  double embedding_drift() const override { return where_ == EmbeddingNoise::weights ? sigma_ : 0; }

 private:
  double sigma_;
  EmbeddingNoise where_;
};

// Section VI-A, Dropout Embedding: a share of the embedding's output is set to zero, the rest scaled up.
class DropoutEmbedding : public ClientDefence {
 public:
  explicit DropoutEmbedding(double rate);  // UserError unless 0 <= rate < 1
  void on_perturbation(Perturbation& perturbation) const override;

 private:
  double rate_;
};

// Section VI-A, Adversarial Embedding, eq. 13: the loss at the embedding's output and at one moved from there
// by a step of this norm in the direction in which it rises, both trained on.
class AdversarialEmbedding : public ClientDefence {
 public:
  explicit AdversarialEmbedding(double magnitude);  // UserError unless a finite number of at least 0
  void on_perturbation(Perturbation& perturbation) const override;

 private:
  double magnitude_;
};

// Section VI-B, LSTM Dropout: another dropout behind the layers than the model's config has.
class LayerDropout : public ClientDefence {
 public:
  explicit LayerDropout(double rate);  // UserError unless 0 <= rate < 1
  void on_perturbation(Perturbation& perturbation) const override;

 private:
  double rate_;
};

}  // namespace undertext
