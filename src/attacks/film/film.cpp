#include "attacks/film/film.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attacks/bag_by_counts.h"
#include "attacks/bag_of_words.h"
#include "attacks/film/best.h"
#include "attacks/film/paper.h"
#include "attacks/film/residual.h"
#include "base/error.h"

namespace undertext {
namespace {

std::shared_ptr<const Transformer> checked_model(const Observation& observation) {
  auto model = std::dynamic_pointer_cast<const Transformer>(observation.before);
  if (!model || model->config().kind != TransformerKind::gpt2 || model->config().layers < 1)
    fail("a {} model is not what film reads, expected gpt2", observation.before->kind());
  const Protocol& protocol = observation.update.protocol;
  if (protocol.epochs != 1 || (protocol.batch > 0 && protocol.count > protocol.batch))
    fail("the update is of more than one step, expected one gradient step over one batch");
  return model;
}

// Section 4.2; with noise, the threshold of section 6.3 on the largest entry of a row.
void add_bag(const Observation& observation, const Transformer& model, double noise, FilmRecovery& to) {
  const std::string& name = model.names().token_embedding;
  if (!observation.update.tensors.contains(name)) {
    to.bag_from = "none";
    return;
  }
  if (model.config().tied && noise == 0) {
    for (const RecoveredWord& word : recover_bag_by_counts(observation).words) to.bag.push_back(word.id);
    std::ranges::sort(to.bag);
    to.bag_from = "norms";
    return;
  }
  const at::Tensor largest = std::get<0>(summed_gradient(observation, name).abs().max(1)).contiguous();
  const double tau = noise * std::sqrt(2 * std::log(static_cast<double>(model.config().width)));
  for (std::int64_t k = 0; k < largest.size(0); ++k)
    if (largest.data_ptr<double>()[k] > tau) to.bag.push_back(static_cast<Token>(k));
  to.bag_from = "rows";
  if (!model.config().tied && noise == 0) to.bag_confidence = 1;
}

}  // namespace

void follow_published_code(FilmOptions& options) {
  options.groups = 8;
  options.fast_norm = options.swaps_only = options.cut_always = true;
  options.phrase_steps = 100;
  options.token_steps = 99;
}

FilmRecovery film(const Observation& observation, const FilmOptions& options) {
  const std::shared_ptr<const Transformer> model = checked_model(observation);
  FilmRecovery result;
  if (options.method == FilmMethod::best) result = film_by_evidence(observation, model, options);
  if (options.bag == FilmBag::oracle) {
    result.bag = options.oracle_bag;
    std::ranges::sort(result.bag);
    result.bag.erase(std::unique(result.bag.begin(), result.bag.end()), result.bag.end());
    result.bag_from = "oracle";
    result.bag_confidence = 1;
  } else if (result.certified) {
    std::set<Token> bag;
    for (const FilmSentence& sentence : result.sentences)
      bag.insert(sentence.ids.begin(), sentence.ids.end());
    result.bag.assign(bag.begin(), bag.end());
    result.bag_from = "evidence";
    result.bag_confidence = 1;
  } else if (result.bag_from.empty()) {
    add_bag(observation, *model, options.noise, result);
  }
  // Where the gradient bears out no sentence, as under noise, the model's own probabilities are all there is;
  // what they give keeps the confidence 0.
  const bool guided = options.method == FilmMethod::best;
  if (!guided || result.sentences.empty()) {
    result.longest = longest_text(observation);
    const std::int64_t longest =
        std::min(result.longest > 0 ? std::min(result.longest, options.longest) : options.longest,
                 model->config().positions);
    FilmOptions how = options;
    if (guided) how.reorder = FilmReorder::none;
    result.sentences = film_as_in_paper(model, result.bag, longest, how);
    certify(observation, *model, result);
  }
  if (options.sentences > 0 && std::ssize(result.sentences) > options.sentences)
    result.sentences.resize(static_cast<std::size_t>(options.sentences));
  return result;
}

}  // namespace undertext
