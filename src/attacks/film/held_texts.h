// The texts that are held for those of the batch, and what they leave of the gradient.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attacks/film/explain.h"
#include "attacks/film/film.h"
#include "attacks/film/step_weight.h"

namespace undertext {

struct HeldTextsOptions {
  std::int64_t longest = 0;     // tokens of a text
  std::vector<char> read = {};  // of each token whether the batch has it elsewhere than at ends; empty:
                                // unknown
  std::function<void(const std::string&)> trace = {};
};

class HeldTexts {
 public:
  HeldTexts(std::shared_ptr<const Transformer> model, const Tail& tail, const TailGradient& gradient,
            StepWeight weight, HeldTextsOptions options);

  const std::vector<Sentence>& texts() const { return texts_; }
  double left() const { return now_.left; }  // of the gradient's norm
  const TailGradient& residual() const { return now_.residual; }
  double one() const { return one_; }  // weight of one occurrence; 0: not known yet
  void set_one(double weight) { one_ = weight; }

  // Fits all of these, and holds those that take a part. filter: as it observed what was left.
  void choose(Filter& filter, const std::vector<Sentence>& pool);
  void drop_all();
  // Takes whole copies for what was fitted, where they explain as much, or whatever they explain.
  void settle(const Filter& filter, bool always);
  // What is left beside all texts but the one that is trusted least, so that it can be read anew.
  TailGradient without_doubtful(const Filter& filter) const;

  std::vector<FilmSentence> best_first(const Filter& filter) const;

 private:
  std::shared_ptr<const Transformer> model_;
  const Tail& tail_;
  const TailGradient& gradient_;
  StepWeight weight_;
  HeldTextsOptions options_;
  Explainer explainer_;
  std::vector<Sentence> texts_;
  Explanation now_;
  double one_ = 0;
};

}  // namespace undertext
