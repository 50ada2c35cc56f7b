#include "defences/dp_ftrl.h"

#include <cmath>
#include <set>

#include "base/error.h"

namespace undertext {

TreePlan::Place TreePlan::place_of(std::int64_t round) const {
  UNDERTEXT_CHECK(round >= 1);
  for (std::size_t tree = 0; tree < leaves.size(); ++tree) {
    if (round <= leaves[tree]) return {static_cast<std::int64_t>(tree), round};
    round -= leaves[tree];
  }
  UNDERTEXT_CHECK(false);
  return {};
}

TreePlan tree_plan(const Selection& selection, std::int64_t clients, std::int64_t rounds) {
  const SelectionRule rule = selection.rule;
  if (rule != SelectionRule::in_turn && rule != SelectionRule::scheduled)
    fail(
        "dp-ftrl: clients are chosen by \"{}\", expected \"in-turn\" or a schedule: its guarantee rests on "
        "nobody being twice in a tree, which a random choice or shuffling does not promise",
        name_of(rule));
  check_selection(selection, clients, rounds);
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(clients), 1);
  TreePlan plan;
  std::set<std::int64_t> seen;
  for (std::int64_t round = 1; round <= rounds; ++round) {
    const std::vector<std::int64_t> chosen = select_clients(selection, sizes, round, Seed(0));
    bool again = plan.leaves.empty();
    for (const std::int64_t client : chosen) again = again || seen.contains(client);
    if (again) {
      plan.leaves.push_back(0);
      seen.clear();
    }
    ++plan.leaves.back();
    seen.insert(chosen.begin(), chosen.end());
  }
  return plan;
}

DpFtrl::DpFtrl(const DpFtrlOptions& options, const TreePlan& plan, std::int64_t round, Seed seed)
    : options_(options),
      place_(plan.place_of(round)),
      noise_(options.sigma * options.clip,
             seed.derive("dp-ftrl").derive(static_cast<std::uint64_t>(place_.tree))),
      sum_(options.clip) {
  if (!(options.sigma >= 0) || !(options.sigma * options.clip < 1e18))
    fail("dp-ftrl: noise of {} times the norm, expected a number of at least 0", options.sigma);
  if (!(options.clients > 0) || !std::isfinite(options.clients))
    fail("dp-ftrl: {} clients a round, expected a positive number", options.clients);
}

void DpFtrl::add(const NamedTensors& weights, std::int64_t) {
  sum_.add(weights);
}

NamedTensors DpFtrl::mean() {
  noise_.add_increment(place_.leaf, sum_.sum());
  return sum_.model(options_.clients);
}

Composition dp_ftrl_steps(double sigma, const TreePlan& plan) {
  Composition composition;
  for (const std::int64_t leaves : plan.leaves) composition.push_back(steps_of_tree(sigma, leaves, 1));
  return composition;
}

}  // namespace undertext
