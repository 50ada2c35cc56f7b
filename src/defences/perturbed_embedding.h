// Perturbations of a client's model while it trains, against its remembering single records (record-level,
// section VI): on what comes out of the token embedding, or between the layers. The model that leaves the
// device is a plain one.
#pragma once

#include "federated/defence.h"

namespace undertext {

// Section VI-A, Noised Embedding: Gaussian noise on the embedding's output, drawn anew in every step.
class NoisedEmbedding : public ClientDefence {
 public:
  explicit NoisedEmbedding(double sigma);  // UserError unless a finite number of at least 0
  void on_perturbation(Perturbation& perturbation) const override;

 private:
  double sigma_;
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
