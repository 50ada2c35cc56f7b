#include "attacks/perplexity_search.h"

#include <algorithm>
#include <cmath>

#include "attacks/model_between.h"
#include "attacks/output_layer.h"
#include "attacks/search_tree.h"

namespace undertext {
namespace {

constexpr std::int32_t kDeepest = 16;
constexpr double kWorthwhile = .25;  // prefixes whose change falls below this are not read on, length unknown

constexpr double kLeastLogP = -4;  // nor over words less likely than this after the training

// One of the two models with the prefixes read by it. Both trees make the same children in the same order,
// so a node has the same id in both.
struct Reader {
  explicit Reader(const std::shared_ptr<const CifgLstm>& model)
      : layer(*model), tree(std::make_unique<CifgReader>(model), model->start_token()) {}

  Matrix<float> log_p(std::span<const NodeId> nodes, std::span<const Token> bag) {
    tree.open(nodes);
    Matrix<float> out(static_cast<std::int64_t>(nodes.size()), static_cast<std::int64_t>(bag.size()));
    layer.softmax(tree.hidden(nodes), [&](std::int64_t i, const float* p) {
      for (std::size_t j = 0; j < bag.size(); ++j) out.row(i)[j] = std::log(std::max(p[bag[j]], 1e-30f));
    });
    return out;
  }

  OutputLayer layer;
  SearchTree tree;
};

struct Beam {
  NodeId node;
  double before, after;  // log p of the whole prefix
};

}  // namespace

std::vector<PerplexityCandidate> search_by_perplexity(const Observation& observation,
                                                      std::span<const Token> bag,
                                                      const PerplexityOptions& options) {
  Reader before(model_between(observation, 0)), after(model_between(observation, 1 + options.scale));
  std::vector<Beam> frontier = {{0, 0, 0}};
  std::vector<PerplexityCandidate> found;
  const std::int32_t deepest = options.length > 0 ? static_cast<std::int32_t>(options.length) : kDeepest;
  for (std::int32_t depth = 1; depth <= deepest && !frontier.empty(); ++depth) {
    std::vector<NodeId> nodes;
    nodes.reserve(frontier.size());
    for (const Beam& beam : frontier) nodes.push_back(beam.node);
    const Matrix<float> p0 = before.log_p(nodes, bag), p1 = after.log_p(nodes, bag);
    struct Option {
      double score;
      std::int64_t from, word;
    };
    std::vector<Option> options_here;
    options_here.reserve(p0.data.size());
    for (std::int64_t i = 0; i < p0.rows; ++i)
      for (std::int64_t j = 0; j < p0.cols; ++j) {
        const double b = frontier[i].before + p0(i, j), a = frontier[i].after + p1(i, j);
        if (options.length == 0 && ((b - a) / b < kWorthwhile || (depth > 1 && p1(i, j) < kLeastLogP)))
          continue;
        options_here.push_back({a - options.prior * b, i, j});
      }
    const auto keep = std::min<std::size_t>(static_cast<std::size_t>(options.beams), options_here.size());
    std::partial_sort(options_here.begin(), options_here.begin() + static_cast<std::ptrdiff_t>(keep),
                      options_here.end(), [](const Option& a, const Option& b) {
                        if (a.score != b.score) return a.score > b.score;
                        return std::pair(a.from, a.word) < std::pair(b.from, b.word);
                      });
    std::vector<Beam> next;
    for (std::size_t n = 0; n < keep; ++n) {
      const auto [score, i, j] = options_here[n];
      const NodeId node = before.tree.child(frontier[i].node, bag[j]);
      after.tree.child(frontier[i].node, bag[j]);
      next.push_back({node, frontier[i].before + p0(i, j), frontier[i].after + p1(i, j)});
      if (options.length == 0 || depth == deepest)
        found.push_back(
            {before.tree.sentence(node), (next.back().before - next.back().after) / next.back().before});
    }
    frontier = std::move(next);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.change > b.change; });
  return found;
}

}  // namespace undertext
