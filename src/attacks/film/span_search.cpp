#include "attacks/film/span_search.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attacks/film/input_span.h"
#include "attacks/film/known_contexts.h"
#include "attacks/film/whole_texts.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

constexpr std::int64_t kTokensAtOnce = 4096;    // of the vocabulary
constexpr std::int64_t kPrefixesAtOnce = 1024;  // read by the first block

// Of block `layer`'s attention, (D, 3 D); undefined where the update does not hold it.
at::Tensor attention_gradient(const Observation& observation, const Transformer& model, std::size_t layer) {
  NamedTensors sums;
  for (const auto& [name, tensor] : observation.update.tensors)
    sums[name] = summed_gradient(observation, name);
  const LayerViews views = layer_views(model, sums, layer);
  if (!views.query.weight.defined() || !views.key.weight.defined() || !views.value.weight.defined())
    return {};
  return at::cat({views.query.weight, views.key.weight, views.value.weight}).t().contiguous();
}

// Weights that were sent are rounded to float32, which counts for more the smaller the step was.
double rounding_of(const Observation& observation, const Transformer& model) {
  const Protocol& protocol = observation.update.protocol;
  if (protocol.kind == UpdateKind::gradient) return 0;
  double largest = 0;
  for (const auto& [name, tensor] : model.parameters())
    if (tensor.dim() == 2 && name != model.names().token_embedding)
      largest = std::max(largest, tensor.abs().mean().item<double>());
  return largest * std::numeric_limits<float>::epsilon() / protocol.learning_rate;
}

}  // namespace

struct SpanSearch::Blocks {
  InputSpan first;
  std::optional<InputSpan> second;
};

SpanSearch::SpanSearch(const Observation& observation, std::shared_ptr<const Transformer> model)
    : model_(std::move(model)) {
  const double rounding = rounding_of(observation, *model_);
  const at::Tensor first = attention_gradient(observation, *model_, 0);
  if (!first.defined()) return;
  auto blocks = std::make_shared<Blocks>(Blocks{InputSpan(first, rounding), {}});
  if (model_->config().layers > 1)
    if (const at::Tensor second = attention_gradient(observation, *model_, 1); second.defined())
      blocks->second.emplace(second, rounding);
  blocks_ = std::move(blocks);
}

std::optional<std::vector<Token>> SpanSearch::bag(std::int64_t places) const {
  if (!blocks_ || blocks_->first.whole()) return std::nullopt;
  const TransformerWeights weights = model_->weights();
  const std::int64_t d = model_->config().width, v = model_->config().vocabulary;
  const LayerNorm& norm = weights.layers.front().norm1;
  std::vector<Token> result;
  for (std::int64_t first = 0; first < v; first += kTokensAtOnce) {
    const std::int64_t last = std::min(v, first + kTokensAtOnce);
    std::vector<char> inside(static_cast<std::size_t>(last - first), 0);
    for (std::int64_t place = 0; place < std::min(places, model_->config().positions); ++place) {
      Matrix<float> x(last - first, d);
      for (std::int64_t k = first; k < last; ++k)
        for (std::int64_t j = 0; j < d; ++j)
          x(k - first, j) = weights.token_embedding[k * d + j] + weights.position_embedding[place * d + j];
      std::vector<float> statistics(static_cast<std::size_t>(2 * x.rows));
      layer_norm(norm, x.data.data(), x.rows, x.data.data(), statistics.data());
      const std::vector<char> now = blocks_->first.inside(x);
      for (std::size_t i = 0; i < now.size(); ++i) inside[i] |= now[i];
    }
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (inside[i] != 0) result.push_back(static_cast<Token>(first) + static_cast<Token>(i));
  }
  // None, or more than the space has room for: the test is void.
  if (result.empty() || std::ssize(result) > blocks_->first.rank()) return std::nullopt;
  return result;
}

std::vector<Sentence> SpanSearch::sentences(const Tail& tail, const TailGradient& gradient,
                                            const std::vector<Token>& bag, std::int64_t places, double weight,
                                            const std::function<void(const std::string&)>& trace) const {
  if (!blocks_ || !blocks_->second || blocks_->second->whole() || bag.empty()) return {};
  const InputSpan& span = *blocks_->second;
  const LayerNorm norm = model_->weights().layers[1].norm1;
  const std::int64_t d = model_->config().width;

  // The prefixes that fit, place by place, as a tree.
  struct Node {
    Sentence tokens;
    std::int32_t before = -1;
  };
  std::vector<Node> nodes;
  std::map<std::pair<std::int32_t, Token>, std::int32_t> children;
  TransformerReader first_block(model_, true, 1), whole(model_, true);
  std::vector<StateId> states;                // of the nodes, to the whole model
  std::vector<std::int32_t> at_front = {-1};  // nodes of the last place
  std::vector<StateId> front = {-1};          // the same to the first block
  for (std::int64_t place = 0; place < places && !front.empty(); ++place) {
    const auto begin = static_cast<std::int32_t>(nodes.size());
    std::vector<StateId> from;
    std::vector<Token> next;
    const std::size_t pairs = front.size() * bag.size();
    std::vector<StateId> fit_from;
    std::vector<Token> fit;
    const auto kept = static_cast<StateId>(place == 0 ? 0 : std::ssize(front));
    for (std::size_t p = 0; p < pairs; p += kPrefixesAtOnce) {
      from.clear(), next.clear();
      for (std::size_t q = p; q < std::min(pairs, p + kPrefixesAtOnce); ++q)
        from.push_back(front[q / bag.size()]), next.push_back(bag[q % bag.size()]);
      const StateId read = first_block.extend(from, next);
      Matrix<float> x(static_cast<std::int64_t>(from.size()), d);
      for (std::int64_t i = 0; i < x.rows; ++i)
        std::copy_n(first_block.last_block(read + static_cast<StateId>(i)).last, d, x.row(i));
      std::vector<float> statistics(2 * from.size());
      layer_norm(norm, x.data.data(), x.rows, x.data.data(), statistics.data());
      const std::vector<char> inside = span.inside(x);
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (inside[i] == 0) continue;
        const std::size_t parent = (p + i) / bag.size();
        const std::int32_t before = at_front[parent];
        Sentence tokens = before < 0 ? Sentence{} : nodes[static_cast<std::size_t>(before)].tokens;
        tokens.push_back(next[i]);
        children[{before, next[i]}] = static_cast<std::int32_t>(nodes.size());
        nodes.push_back({std::move(tokens), before});
        fit_from.push_back(from[i]);
        fit.push_back(next[i]);
      }
      std::vector<StateId> keep(static_cast<std::size_t>(kept));
      for (StateId i = 0; i < kept; ++i) keep[static_cast<std::size_t>(i)] = i;
      first_block.keep(keep);
    }
    if (std::ssize(nodes) > span.rank()) return {};  // as above
    if (fit.empty()) break;
    std::vector<StateId> whole_from;
    for (std::size_t i = static_cast<std::size_t>(begin); i < nodes.size(); ++i)
      whole_from.push_back(nodes[i].before < 0 ? -1 : states[static_cast<std::size_t>(nodes[i].before)]);
    const StateId read = whole.extend(whole_from, fit);
    const StateId again = first_block.extend(fit_from, fit);
    std::vector<StateId> keep;
    at_front.clear(), front.clear();
    for (std::size_t i = 0; i < fit.size(); ++i) {
      states.push_back(read + static_cast<StateId>(i));
      keep.push_back(again + static_cast<StateId>(i));
      at_front.push_back(begin + static_cast<std::int32_t>(i));
      front.push_back(static_cast<StateId>(i));
    }
    first_block.keep(keep);
  }
  if (trace) trace(fmt::format("span: {} tokens, {} prefixes of {}", bag.size(), nodes.size(), span.rank()));
  if (nodes.empty()) return {};

  const TailContexts contexts = tail.contexts(whole, states);
  std::vector<TokenCounts> known(nodes.size());  // longer prefixes tell what follows the shorter ones
  for (const auto& [step, child] : children)
    if (step.first >= 0) known[static_cast<std::size_t>(step.first)][step.second] = 1;
  FollowingTokens following = tokens_after(tail, contexts, gradient[0], known, weight);
  if (following.weight == 0) return {};
  // No more can follow a prefix than enter it.
  for (std::size_t c = 0; c < nodes.size(); ++c) {
    if (nodes[c].before < 0) continue;
    const TokenCounts& into = following.counts[static_cast<std::size_t>(nodes[c].before)];
    const auto entered = into.find(nodes[c].tokens.back());
    std::int64_t over = entered == into.end() ? 0 : -entered->second;
    for (const auto& [token, count] : following.counts[c]) over += count;
    for (; over > 0 && !following.found[c].empty(); --over) {
      const auto last = following.counts[c].find(following.found[c].back());
      if (--last->second == 0) following.counts[c].erase(last);
      following.found[c].pop_back();
    }
  }
  // Something follows every prefix. What cannot be seen is what the model was sure of.
  for (std::size_t c = 0; c < nodes.size(); ++c)
    if (following.counts[c].empty()) following.counts[c][contexts.likeliest[c]] = 1;
  // A text ends where a prefix is entered more often than it is left.
  std::vector<Sentence> result;
  std::int64_t steps = 0;
  for (std::size_t c = 0; c < nodes.size(); ++c)
    for (const auto& [token, count] : following.counts[c]) {
      std::int64_t left = 0;
      if (const auto child = children.find({static_cast<std::int32_t>(c), token}); child != children.end())
        for (const auto& [after, times] : following.counts[static_cast<std::size_t>(child->second)])
          left += times;
      Sentence text = nodes[c].tokens;
      text.push_back(token);
      for (std::int64_t i = left; i < count; ++i) result.push_back(text);
      steps += count;
    }
  // Of a mean one step weighs as much as there are steps, which tells of those that no prefix shows.
  if (weight == 0) add_expected_ends(model_, tail, std::llround(1 / following.weight) - steps, result);
  if (trace)
    trace(fmt::format("span: {} tokens, {} prefixes of {}, {:.3f} steps, {} seen", bag.size(), nodes.size(),
                      span.rank(), 1 / following.weight, steps));
  return result;
}

}  // namespace undertext
