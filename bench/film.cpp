// Our side of bench/rows/film.py; see worker.h. A model of GPT-2's smallest shape that knows a text of
// 20 tokens by heart, as one that has trained on it.
// prepare     makes the model and writes it to DATA
// search      seconds for algorithm 1: 32 beams, 40 tokens, a bag of 300
// short       log-probability of what it finds within few tokens, to compare
// full, fast  seconds for each reordering candidate, all of 64 scored by equation 4; fast: one layer norm's
// norm judged      the same, when only the best is wanted and only if it is better than the sentence itself
// score       of the first candidate, to compare
#include <ATen/ATen.h>

#include "attacks/film/beam_search.h"
#include "attacks/film/phrase_moves.h"
#include "attacks/film/prior_score.h"
#include "attacks/film/reorder.h"
#include "gpt2_shape.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::int64_t kTokens = 20, kLongest = 40, kBag = 300, kShort = 4, kSteps = 15, kReorderSteps = 10;

// The same numbers as the reference makes: token i of the bag, and the text that the model knows.
Token word(std::int64_t i) {
  return static_cast<Token>(i * 167 + 17);
}
Sentence text() {
  Sentence result;
  for (std::int64_t t = 0; t < kTokens; ++t) result.push_back(word(t * 31 % kBag));
  return result;
}

std::vector<Token> bag() {
  std::vector<Token> result;
  for (std::int64_t i = 0; i < kBag; ++i) result.push_back(word(i));
  return result;
}

// A few steps of Adam (Kingma and Ba, 2015) on the text.
std::shared_ptr<const Transformer> trained() {
  auto model = Transformer::random(smallest_gpt2(), Seed(1));
  constexpr double kRate = 5e-4, kFirst = 0.9, kSecond = 0.999;
  NamedTensors gradient, first, second;
  for (const auto& [name, tensor] : model->parameters())
    for (NamedTensors* to : {&gradient, &first, &second}) (*to)[name] = at::zeros_like(tensor);
  const std::vector<Example> examples = model->examples(std::vector<Sentence>{text()});
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    for (auto& [name, tensor] : gradient) tensor.zero_();
    model->add_gradient(examples, 1.0 / (kTokens - 1), gradient);
    for (const auto& [name, tensor] : model->parameters()) {
      at::Tensor &m = first.at(name), &v = second.at(name), &g = gradient.at(name);
      m.mul_(kFirst).add_(g, 1 - kFirst);
      v.mul_(kSecond).addcmul_(g, g, 1 - kSecond);
      const double rate = kRate / (1 - std::pow(kFirst, static_cast<double>(step)));
      at::Tensor weight = tensor;
      weight.addcdiv_(m, v.div(1 - std::pow(kSecond, static_cast<double>(step))).sqrt_().add_(1e-8), -rate);
    }
  }
  return model;
}

// The text with two of its phrases exchanged, which reordering is to put right.
Sentence shuffled() {
  return moved(text(), {5, 9, 15}, {0, 2, 1, 3});
}

// What one step of phrase-wise reordering proposes.
std::vector<Sentence> candidates(const Trunk& trunk) {
  Random random{Seed(2)};
  return phrase_moves(trunk.sentence(), trunk.links(), kCutsKept, kPhraseMoves, random);
}

double timed(const std::function<void()>& work) {
  const double began = seconds();
  work();
  return seconds() - began;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  std::shared_ptr<const Transformer> model;
  const auto search = [&](std::int64_t longest) {
    std::vector<Token> starts;
    for (std::int64_t n = 0; n < 32; ++n) starts.push_back(word(n * 9));
    BeamSearch beams(model, bag(), {.longest = longest});
    return beams.run(starts, {})[0].log_probability;
  };
  const auto scored = [&](bool fast) {
    PriorScore score(model, {.fast_norm = fast});
    score.follow(shuffled());
    const std::vector<Sentence> all = candidates(score.trunk());
    return timed([&] { score(all); }) / static_cast<double>(all.size());
  };
  return answer_questions({
      {"prepare",
       [&] {
         model = trained();
         model->save(folders.data);
         return 0.0;
       }},
      {"search", [&] { return timed([&] { search(kLongest); }); }},
      {"short", [&] { return search(kShort); }},
      {"full", [&] { return scored(false); }},
      {"fast", [&] { return scored(true); }},
      {"judged",
       [&] {
         PriorScore score(model, {});
         Sentence sentence = shuffled();
         const double took = timed([&] {
           reorder(sentence, score, bag(), {.phrase_steps = kReorderSteps, .token_steps = kReorderSteps});
         });
         return took / static_cast<double>(kReorderSteps * (kPhraseMoves + kTokenMoves));
       }},
      {"score", [&] { return PriorScore(model, {})(std::vector<Sentence>{shuffled()})[0]; }},
  });
}
